import { schedule } from "colibri-web";

schedule(function* () {
  let sum = 0;
  for (let i = 0; i < 1000; i++) {
    sum += i;
    yield;
  }
  return sum;
}).then(console.log);
