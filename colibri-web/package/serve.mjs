// Serves this folder on loopback: `node serve.mjs [PATH]` says where PATH is. Nobody but this machine can reach it.

import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";

const TYPES = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** Serves on a free port, or on `port`. */
export function serve(port = 0) {
  const root = import.meta.dirname;
  const server = createServer((request, response) => {
    let path = normalize(join(root, decodeURIComponent(new URL(request.url, "http://loopback").pathname)));
    if (path.endsWith(sep)) path += "index.html";
    const found = (path.startsWith(root + sep) && statSync(path, { throwIfNoEntry: false })) || undefined;
    if (!found?.isFile()) {
      response.writeHead(found ? 302 : 404, found ? { location: `${request.url}/` } : {}).end("not found");
      return;
    }
    // Isolated pages have a fine clock: 5 µs instead of 100.
    const isolated = {
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-embedder-policy": "require-corp",
    };
    const type = TYPES[extname(path)] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type, "cache-control": "no-cache", ...isolated });
    createReadStream(path).pipe(response);
  });
  return new Promise((done, failed) => {
    server.once("error", failed);
    server.listen(port, "127.0.0.1", () => done({ server, origin: `http://127.0.0.1:${server.address().port}` }));
  });
}

if (process.argv[1] === import.meta.filename) {
  const { origin } = await serve(Number(process.env.PORT ?? 8321)).catch((error) => {
    console.error(`error: ${error.message}. Another port: PORT=8322`);
    process.exit(1);
  });
  console.log(`${origin}/${process.argv[2] ?? ""}/   (Ctrl-C ends it)`);
}
