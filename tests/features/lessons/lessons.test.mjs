// Which key presses walk a lesson, which addresses are one entry of the browser's history, what a browser keeps.
import test from "node:test";
import assert from "node:assert/strict";
import { isSame, stepOf } from "../../../bartviz/features/lessons/history.js";
import { entries } from "../../../bartviz/app/components/menu/entries.js";
import {
  chipOf,
  distance,
  holdPicture,
  isField,
  letterOf,
  listen,
  meant,
  noteHeight,
  pastLines,
  pointOf,
} from "../../../bartviz/features/lessons/lessons.js";
import { differs, merged } from "../../../bartviz/features/lessons/store.js";

const page = [{ tagName: "DIV" }, { tagName: "BODY" }];

test("n goes on, b back, a answers, in either case", () => {
  assert.equal(meant({ key: "n", code: "KeyN" }, page, false), "next");
  assert.equal(meant({ key: "B", code: "KeyB" }, page, false), "back");
  assert.equal(meant({ key: "a", code: "KeyA" }, page, false), "answer");
  assert.equal(meant({ key: "x", code: "KeyX" }, page, false), "");
});

test("a keyboard that is set to Korean writes other letters on the same keys", () => {
  assert.equal(letterOf({ key: "ㅜ", code: "KeyN" }), "n");
  assert.equal(letterOf({ key: "Process", code: "KeyN" }), "n");
  assert.equal(letterOf({ key: "1", code: "Digit1" }), "");
  assert.equal(letterOf({ key: "b", code: "KeyN" }), "b"); // another arrangement of Latin letters
});

test("a line that the strip's edge would cut goes out of sight above it, unless the part would too", () => {
  const lines = [
    { top: 150, bottom: 170 },
    { top: 165, bottom: 190 },
    { top: 300, bottom: 320 },
  ];
  assert.equal(pastLines(0, 400, 160, []), 0);
  assert.equal(pastLines(0, 400, 160, lines), 30); // the first is cut, and behind it the second
  assert.equal(pastLines(40, 400, 160, lines), 40); // both are out of sight
  assert.equal(pastLines(0, 185, 160, lines), 0); // no room: the part itself begins there
});

test("a presenter's clicker walks in large type alone", () => {
  assert.equal(meant({ key: "PageDown" }, page, true), "next");
  assert.equal(meant({ key: "PageUp" }, page, true), "back");
  assert.equal(meant({ key: "PageDown" }, page, false), "");
});

test("what is typed, held, taken by somebody else or part of a shortcut is left alone", () => {
  for (const tagName of ["INPUT", "TEXTAREA", "SELECT"])
    assert.equal(meant({ key: "n" }, [{ tagName }, ...page], false), "");
  assert.equal(meant({ key: "n" }, [{ tagName: "DIV", isContentEditable: true }], false), "");
  for (const held of ["ctrlKey", "metaKey", "altKey", "repeat", "isComposing", "defaultPrevented"])
    assert.equal(meant({ key: "n", [held]: true }, page, false), "");
});

test("a slider or a switch has no text to type into", () => {
  assert.ok(!isField([{ tagName: "INPUT", type: "range" }]));
  assert.ok(!isField([{ tagName: "INPUT", type: "checkbox" }]));
  assert.ok(isField([{ tagName: "INPUT", type: "text" }]));
  assert.ok(!isField([]));
});

test("a part of a step is moved into sight by as little as it takes, and one that is too high to its top", () => {
  const room = { top: 200, bottom: 700 };
  assert.equal(distance({ top: 250, bottom: 650 }, room), 0);
  assert.equal(distance({ top: 450, bottom: 850 }, room), 150); // then its end is the room's
  assert.equal(distance({ top: 100, bottom: 400 }, room), -100); // it was behind the strip
  assert.equal(distance({ top: 450, bottom: 1200 }, room), 250); // 750 pixels do not fit into 500
});

const at = (address) => new URL(address, "http://127.0.0.1");

test("a step is its lesson and its number, whatever else an address says", () => {
  assert.equal(stepOf("?layer=2&lesson=heads&at=3"), "heads 3");
  assert.equal(stepOf("?layer=2"), "");
});

test("what is written of one step, and the page that it is on, is one entry", () => {
  assert.ok(isSame(at("/heads?lesson=heads&at=3"), at("/heads?lesson=heads&at=3&layer=2"), "heads 3"));
  assert.ok(isSame(at("/lessons?lesson=heads&at=1"), at("/heads?lesson=heads&at=1"), ""));
  assert.ok(!isSame(at("/heads?lesson=heads&at=3&layer=2"), at("/heads?lesson=heads&at=4&layer=2"), "heads 4"));
});

test("a page that the visitor has gone to in between is an entry of its own, and its words belong to it", () => {
  assert.ok(!isSame(at("/heads?lesson=heads&at=3"), at("/compare"), "heads 3"));
  assert.ok(isSame(at("/compare"), at("/compare?lesson=heads&at=3"), "heads 3"));
  assert.ok(!isSame(at("/lessons"), at("/lessons?lesson=heads&at=1"), "")); // a lesson begins
  assert.ok(!isSame(at("/heads"), at("/heads?layer=2"), ""));
});

test("a browser keeps the most that was seen, all that was answered, and the place of this visit", () => {
  assert.deepEqual(merged({ heads: [6, 0], masks: [2, 1] }, { heads: [3, 2, 0] }), { heads: [6, 2, 0], masks: [2, 1] });
  assert.deepEqual(merged({ heads: [6, 0, 0b101] }, { heads: [6, 2, 0b010] }), { heads: [6, 2, 0b111] });
  assert.ok(differs({ heads: [6, 0, 0b101] }, { heads: [6, 2, 0b100] }));
  assert.ok(!differs({ heads: [6, 0, 0b001] }, { heads: [6, 2, 0b101] }));
  assert.ok(differs({ heads: [6, 0] }, { heads: [3, 2] }));
  assert.ok(differs({ heads: [6, 0] }, {}));
  assert.ok(!differs({ heads: [3, 0] }, { heads: [3, 2], masks: [1, 0] }));
});

test("one act of a visitor is one entry of the history, whatever is written for it", () => {
  const said = [];
  const { write, act, rest } = entries(
    (_state, _unused, url) => said.push(`new ${url}`),
    (_state, _unused, url) => said.push(`same ${url}`),
  );
  const to = (...addresses) => addresses.forEach((address) => write(null, "", address));
  to("/heads?row=1"); // the page that was opened leaves out a default
  act();
  to("/heads?kind=cross", "/inside?kind=cross", "/inside");
  act();
  rest(); // Back
  to("/heads?row=1");
  assert.deepEqual(said, [
    "same /heads?row=1",
    "new /heads?kind=cross",
    "same /inside?kind=cross",
    "same /inside",
    "same /heads?row=1",
  ]);
});

/** A node within a container whose key is in its class, as Streamlit draws it. */
const within = (key, more = {}) => ({ closest: () => ({ className: `stVerticalBlock st-key-${key} x`, ...more }) });

test("what is clicked in a figure is named by its figure, its place on the axes, and its label", () => {
  const plot = within("inside_share");
  assert.deepEqual(pointOf(plot, { x: 3, y: 0.2, pointNumber: 3, curveNumber: 0 }), {
    figure: "inside_share",
    x: 3,
    y: 0.2,
    label: undefined,
    curve: 0,
    point: 3,
  });
  assert.equal(pointOf(plot, { label: "encoder", pointNumber: [1] }).label, "encoder");
  assert.ok(!("point" in pointOf(plot, { pointNumber: [2, 1], x: "a", y: "b" }))); // of a heat map: two numbers
});

test("a word of a text is named by its place among the words of its line", () => {
  const chips = ["I", "want"].map((text) => ({ firstChild: { textContent: text } }));
  const box = within("lines", { querySelectorAll: () => chips }).closest();
  const chip = Object.assign(chips[1], { closest: () => box });
  assert.deepEqual(chipOf({ closest: () => chip }), { figure: "lines", chip: 1, label: "want" });
  assert.equal(chipOf({ closest: () => null }), null);
});

test("an older strip that goes does not stop the newer one from listening", (t) => {
  globalThis.document = /** @type {any} */ (Object.assign(new EventTarget(), { querySelector: () => null }));
  globalThis.HTMLElement = /** @type {any} */ (class {});
  t.after(() => ["document", "HTMLElement"].forEach((name) => Reflect.deleteProperty(globalThis, name)));
  t.mock.timers.enable({ apis: ["setTimeout"] }); // what was touched is marked for a while
  const heard = [];
  const touch = (row) =>
    globalThis.document.dispatchEvent(new CustomEvent("bv-touch", { detail: row, cancelable: true }));
  const [older, newer] = [{ isConnected: true }, { isConnected: true }];
  const first = listen(older, "cross", (row) => heard.push(["first", row]));
  const second = listen(newer, "cross", (row) => heard.push(["second", row]));
  touch(1);
  const again = listen(older, "cross", (row) => heard.push(["first", row])); // drawn once more
  touch(2);
  first(); // of its first drawing
  again();
  touch(3);
  newer.isConnected = false;
  touch(4);
  newer.isConnected = true;
  second();
  touch(5);
  assert.deepEqual(heard, [
    ["second", 1],
    ["second", 2],
    ["second", 3],
  ]);
});

test("the page scrolls by what the strip grows or shrinks, and a strip that cannot shrink keeps its height", () => {
  const kept = new Map(),
    style = {
      setProperty: (/** @type {string} */ name, /** @type {string} */ value) => kept.set(name, value),
      removeProperty: (/** @type {string} */ name) => kept.delete(name),
    };
  let height = 100,
    top = 0,
    ask = "Which?";
  const strip = /** @type {any} */ ({
    querySelector: () => ({ textContent: ask }),
    getBoundingClientRect: () => ({ height }),
  });
  const main = /** @type {any} */ ({
    get scrollTop() {
      return top;
    },
    set scrollTop(to) {
      top = Math.max(0, to);
    },
  });
  const after = (/** @type {number} */ now) => {
    height = now;
    holdPicture(strip, main, /** @type {any} */ ({ style }));
    return [top, kept.get("--bv-card")];
  };
  assert.deepEqual(after(140), [0, undefined]); // a new step, with parts of the one before
  assert.deepEqual(after(100), [0, undefined]);
  noteHeight(strip);
  assert.deepEqual(after(130), [30, undefined]);
  assert.deepEqual(after(110), [10, undefined]);
  assert.deepEqual(after(80), [0, "100px"]); // 30 less, of which the page can go back 10
  assert.deepEqual(after(100), [0, "100px"]);
  ask = "And now?";
  assert.deepEqual(after(90), [0, undefined]);
});
