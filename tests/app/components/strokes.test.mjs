// Whether a finger paints or scrolls.
import test from "node:test";
import assert from "node:assert/strict";
import { listenForStrokes, wayOf } from "../../../bartviz/browser/shared/strokes.js";

test("a finger rests within a few pixels, paints along the row and scrolls along the column", () => {
  assert.equal(wayOf(5, -5), null);
  assert.equal(wayOf(-12, 3), "paint");
  assert.equal(wayOf(3, 12), "scroll");
  assert.equal(wayOf(30, -40), "scroll");
});

/** A node, and what strokes on it have done. */
function painted() {
  const node = Object.assign(new EventTarget(), { setPointerCapture() {} }),
    done = [];
  listenForStrokes(node, {
    begin: ({ clientX }) => (done.push(`begin ${clientX}`), clientX >= 0),
    move: ({ clientX }) => done.push(`move ${clientX}`),
    end: (kept) => done.push(kept ? "kept" : "taken back"),
  });
  const send = (type, clientX = 0, clientY = 0, given = {}) =>
    node.dispatchEvent(
      Object.assign(new Event(type, { cancelable: true }), {
        ...{ isPrimary: true, button: 0, pointerType: "touch", clientX, clientY },
        ...given,
      }),
    );
  return { done, send };
}

test("a mouse paints from where it is pressed, and with its first button alone", () => {
  const { done, send } = painted();
  send("pointerdown", 1, 0, { pointerType: "mouse", button: 2 });
  assert.deepEqual(done, []);
  send("pointerdown", 1, 0, { pointerType: "mouse" });
  send("pointermove", 1, 40, { pointerType: "mouse" });
  send("pointerup", 1, 40, { pointerType: "mouse" });
  assert.deepEqual(done, ["begin 1", "move 1", "kept"]);
});

test("a tap paints one cell, a swipe none, a drag along the row from where it began", () => {
  const tap = painted();
  for (const type of ["pointerdown", "pointerup"]) tap.send(type, 3);
  assert.deepEqual(tap.done, ["begin 3", "kept"]);
  const swipe = painted();
  swipe.send("pointerdown", 3);
  swipe.send("pointermove", 4, 20);
  swipe.send("pointercancel", 4, 20);
  assert.deepEqual(swipe.done, []);
  const along = painted();
  along.send("pointerdown", 3);
  along.send("pointermove", 30);
  along.send("pointerup", 30);
  assert.deepEqual(along.done, ["begin 3", "move 30", "kept"]);
});

test("after a short press any way paints, and the page does not scroll", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { done, send } = painted();
  send("pointerdown", 3);
  assert.equal(send("touchmove"), true); // the browser may scroll
  context.mock.timers.tick(300);
  send("pointermove", 3, 50);
  assert.equal(send("touchmove"), false);
  send("pointerup", 3, 50);
  assert.deepEqual(done, ["begin 3", "move 3", "kept"]);
});

test("a second finger takes back what the first has painted, and begins nothing", () => {
  const { done, send } = painted();
  send("pointerdown", 3);
  send("pointermove", 30);
  send("pointerdown", 60, 0, { isPrimary: false });
  send("pointerup", 30);
  assert.deepEqual(done, ["begin 3", "move 30", "taken back"]);
});

test("nothing is painted where nothing can be", () => {
  const { done, send } = painted();
  for (const type of ["pointerdown", "pointerup"]) send(type, -1);
  assert.deepEqual(done, ["begin -1"]);
});
