// How long a part of the page is kept where it belongs.
import test from "node:test";
import assert from "node:assert/strict";
import { keep } from "../../../bartviz/app/components/scroll_to/keep.js";

const REST = 4000; // milliseconds

test("a browser that was busy for longer than the rest still scrolls to what came meanwhile", (t) => {
  let now = 0,
    top = 0;
  const moves = [],
    main = { scrollBy: ({ top: by }) => (moves.push(by), (top -= by)) };
  t.mock.timers.enable({ apis: ["setTimeout"] });
  t.mock.method(performance, "now", () => now);
  globalThis.addEventListener = () => {};
  const pass = (time) => ((now += time), t.mock.timers.tick(time));
  keep(
    main,
    () => top,
    () => true,
    REST,
  );
  top = 500; // the part came while nothing was looked at
  pass(REST + 1000);
  assert.deepEqual(moves, [500]);
  pass(150); // it has arrived
  pass(REST + 1000);
  top = 300; // it has rested: what grows now is nobody's
  pass(150);
  assert.deepEqual(moves, [500]);
});
