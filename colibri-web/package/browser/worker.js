// A worker with tasks.

import { schedule } from "/dist/colibri.js";

onmessage = async ({ data }) => {
  const sum = await schedule(function* () {
    let sum = 0;
    for (let number = 0; number < data; number++) {
      sum += number;
      yield;
    }
    return sum;
  });
  postMessage(sum);
};
