import assert from "node:assert/strict";
import { test } from "node:test";
import { opens } from "../../../bartviz/features/parameters/open.js";

const map = {
  ids: ["model", "encoder", "decoder", "decoder/layer 0", "decoder/layer 0/self", "q"],
  parents: ["", "model", "model", "decoder", "decoder/layer 0", "decoder/layer 0/self"],
};
const at = (level, touched) => opens({ ...map, level }, touched);

test("a touch opens one level, however deep it is", () => {
  assert.equal(at("model", "q"), "decoder");
  assert.equal(at("decoder", "q"), "decoder/layer 0");
  assert.equal(at("decoder/layer 0/self", "q"), "q");
});

test("the heading leads one level back, a name of the path to its area", () => {
  assert.equal(at("decoder/layer 0", "decoder/layer 0"), "decoder");
  assert.equal(at("decoder/layer 0/self", "model"), "model");
  assert.equal(at("model", "model"), "model");
});
