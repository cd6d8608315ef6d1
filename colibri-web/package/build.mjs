// `node build.mjs IN.wasm`: makes dist/colibri.js, the whole package in one module, and prints how large it is.
//
// The wasm file is optimised, and written into the minified module as a text, one character a byte: so the package needs no second
// request, no loader, and works from the first line on. A file of both is larger than both apart, since gzip has one code for all of
// it. So the bytes are turned round (`K - byte`), by the K with which the characters that are frequent in wasm are those that are
// frequent in JavaScript.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { minify } from "@swc/core";

// What `src/colibri.js` calls, and nothing else that the linker exports.
const EXPORTS = ["a", "b", "c", "d"];

// Without these named the result would use none of them, or, with all, not load on Node 20.
const FEATURES = ["bulk-memory", "sign-ext", "mutable-globals", "nontrapping-float-to-int"].map((name) => `--enable-${name}`);
const STRIP = ["--strip-debug", "--strip-producers", "--strip-target-features"];

// The optimiser's passes are no confluent system: which order ends smallest differs from one source to the next.
const ORDERS = ["-Oz", "--flatten --rereloop -Oz -Oz", "-Oz --flatten --rereloop -Oz -Oz", "-Oz -O4 --flatten --rereloop -Oz -Oz"];

const here = (...path) => join(import.meta.dirname, ...path);

// Measured as servers compress: Node's own zlib finds 2 % less.
const gzipped = (data) => execFileSync("gzip", ["-9nc"], { input: data }).length;

function smallest(candidates) {
  const sizes = candidates.map(gzipped);
  return candidates[sizes.indexOf(Math.min(...sizes))];
}

function tool(name, ...options) {
  execFileSync(process.execPath, [here("node_modules/binaryen/bin", name), ...options], { stdio: ["ignore", "ignore", "inherit"] });
}

function optimise(input, folder) {
  const graph = [{ name: "root", root: true, reaches: EXPORTS }, ...EXPORTS.map((name) => ({ name, export: name }))];
  writeFileSync(join(folder, "graph.json"), JSON.stringify(graph));
  tool("wasm-metadce", "-all", input, "--graph-file", join(folder, "graph.json"), "-o", join(folder, "needed.wasm"));
  const results = ORDERS.map((order, place) => {
    const output = join(folder, `${place}.wasm`);
    const passes = [...order.split(" "), "--ignore-implicit-traps", "--converge", "--low-memory-unused", "--zero-filled-memory"];
    tool("wasm-opt", join(folder, "needed.wasm"), ...passes, ...FEATURES, ...STRIP, "-o", output);
    return readFileSync(output);
  });
  return smallest(results);
}

// The core is built with no room for a stack in its memory: it needs none. A global would be a stack's pointer.
function refuseStack(wasm) {
  for (let at = 8; at < wasm.length; ) {
    const section = wasm[at++];
    let size = 0;
    for (let shift = 0, more = true; more; shift += 7) {
      size |= (wasm[at] & 127) << shift;
      more = wasm[at++] > 127;
    }
    if (section === 6) throw new Error("the wasm file has a global: something needs a stack, for which there is no room");
    at += size;
  }
}

async function shrink(source) {
  const options = {
    module: true,
    ecma: 2022,
    compress: { passes: 3, unsafe: true, unsafe_arrows: true, pure_getters: true, booleans_as_integers: true, toplevel: true },
    mangle: { toplevel: true, props: { regex: "^_" } },
  };
  const { code } = await minify(source, options);
  // One keyword for all declarations, and one declaration for all that is exported: it is all at the end.
  const declarations = code.replace(/\bconst\b/g, "let").replace(/!0/g, "1").replace(/[;\n]+$/, "");
  const [inner, exported] = declarations.split(/export let (.*)/s);
  return `${inner}export let ${exported.replaceAll(";export let ", ",")}`;
}

const ESCAPES = { "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r" };

function embed(wasm, module) {
  const write = (turn) => {
    const text = [...wasm].map((byte) => String.fromCharCode((turn - byte) & 255));
    const literal = text.map((character) => ESCAPES[character] ?? character).join("");
    const decode = /"WASM",(\w+)=>\1\.charCodeAt\(\)/;
    if (!decode.test(module)) throw new Error("the minified module does not read the wasm file as it is written");
    return Buffer.from(module.replace(decode, (_, name) => `"${literal}",${name}=>${turn}-${name}.charCodeAt()`));
  };
  return smallest(Array.from({ length: 256 }, (_, turn) => write(turn)));
}

const [input] = process.argv.slice(2);
if (!input) {
  console.error("usage: node build.mjs IN.wasm");
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), "colibri-web-"));
try {
  const wasm = optimise(input, folder);
  refuseStack(wasm);
  const module = await shrink(readFileSync(here("src/colibri.js"), "utf8"));
  const whole = embed(wasm, module);
  mkdirSync(here("dist"), { recursive: true });
  writeFileSync(here("dist/colibri.js"), whole);
  // The page and all that it needs, to be put on any server of static files.
  cpSync(here("demo"), here("dist/demo"), { recursive: true });
  writeFileSync(here("dist/demo/colibri.js"), whole);
  const sizes = { wasm: wasm.length, module: module.length, package: whole.length };
  const small = { wasm: gzipped(wasm), module: gzipped(module), package: gzipped(whole) };
  console.log(JSON.stringify({ bytes: sizes, gzipped: small }));
} finally {
  rmSync(folder, { recursive: true });
}
