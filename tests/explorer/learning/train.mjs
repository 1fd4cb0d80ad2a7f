// A training as the page begins it: `node train.mjs '{"seed": 1}'` trains until it is done, or for a minute of one core,
// and prints the last judgement with the seconds.

import { Training } from "../../../bartviz/explorer/learning/training.js";

const SECONDS = 60,
  BETWEEN = 1; // seconds between two judgements
const settings = { task: "reverse", width: 32, heads: 2, layers: 1, causal: true, rate: 0.005, seed: 1 };

const training = new Training({ ...settings, ...JSON.parse(process.argv[2]) }),
  since = process.cpuUsage().user;
const used = () => (process.cpuUsage().user - since) / 1e6;
let last = training.judge(),
  judged = used();
while (!training.done && used() < SECONDS) {
  training.learn();
  if (used() - judged < BETWEEN) continue;
  last = training.judge();
  judged = used();
}
console.log(JSON.stringify({ ...last, seconds: used(), done: training.done }));
