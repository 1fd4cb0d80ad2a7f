// A training in a thread of its own. It is asked with {start: settings, words}, {go}, {stop} and {words}; it tells what
// a text becomes about ten times a second, and each judgement.

import { TASKS } from "./tasks.js";
import { Training } from "./training.js";

const REDRAWN = 100; // milliseconds between two pictures of the map
const MOST = 3; // steps between two pictures: a fast machine would be through before anybody has looked
const SHARE = 8; // judging takes one part in so many of the time
const tell = (message) => /** @type {any} */ (globalThis).postMessage(message);

/** @type {Training | null} */
let training = null;
let running = false;
let turn = 0; // of learning: a new one ends the one before
/** @type {string[]} */
let words = [];
let judged = 0,
  took = 0;

function attempt() {
  tell({ attempt: training.attempt(words), steps: training.learner.steps });
}

function judge() {
  const since = performance.now();
  const judgement = training.judge();
  judged = performance.now();
  took = judged - since;
  tell({ judgement });
}

/** Learns until the next picture, lets messages in, and goes on, unless another turn has begun. */
function run(mine) {
  if (!running || mine !== turn) return;
  const since = performance.now(),
    left = () => REDRAWN - (performance.now() - since);
  for (let step = 0; step < MOST && left() > 0; step++) training.learn();
  attempt();
  if (performance.now() - judged > SHARE * took) judge();
  if (training.done) running = false;
  tell({ running, done: training.done });
  setTimeout(() => run(mine), left());
}

globalThis.onmessage = ({ data }) => {
  if (data.start) {
    training = new Training(data.start);
    words = data.words ?? TASKS[data.start.task].first;
    running = false;
    judged = took = 0;
  } else if (data.words) words = data.words;
  if (data.start || data.words) attempt();
  if (data.go) {
    running = true;
    training.passed = 0; // it was done before, and is asked to go on
    run(++turn);
  }
  if (data.stop) {
    running = false;
    judge();
    tell({ running, done: training.done });
  }
};
