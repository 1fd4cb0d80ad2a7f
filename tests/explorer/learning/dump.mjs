// A small learner for PyTorch to repeat: its parameters, a batch, the loss, the gradients and ten steps of Adam, as JSON.

import { Learner } from "../../../bartviz/explorer/learning/learner.js";
import { randomly } from "../../../bartviz/explorer/learning/random.js";
import { batch, TASKS } from "../../../bartviz/explorer/learning/tasks.js";

const task = TASKS.translate,
  sizes = {
    source: task.source.length,
    target: task.target.length,
    places: task.most + 1,
    width: 16,
    heads: 4,
    layers: 2,
    causal: process.argv[2] === "causal",
    seed: 3,
  };
const learner = new Learner(sizes, Float64Array),
  parts = batch(task, randomly(5), 8),
  taken = (name) => Object.fromEntries(Object.entries(learner.parameters).map(([key, one]) => [key, [...one[name]]]));
const shapes = Object.fromEntries(
  Object.entries(learner.parameters).map(([key, one]) => [key, [one.rows, one.columns]]),
);
const before = taken("value"),
  loss = learner.loss(parts),
  gradients = taken("gradient"),
  cross = learner.told(parts[0]).cross.map((weights) => [...weights]);
const losses = Array.from({ length: 10 }, () => learner.learn(parts, 0.005));
const plain = parts.map((part) => ({
  texts: part.texts,
  source: [...part.source],
  read: [...part.read],
  write: [...part.write],
}));
console.log(
  JSON.stringify({ sizes, shapes, before, parts: plain, loss, gradients, cross, losses, after: taken("value") }),
);
