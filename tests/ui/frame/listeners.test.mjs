// Who Ctrl+Enter belongs to, and which touch a chart hears of.
import test from "node:test";
import assert from "node:assert/strict";
import { belongsToField } from "../../../bartviz/ui/components/listeners/keys.js";
import { hoverFirst } from "../../../bartviz/ui/components/listeners/touch.js";

const node = (tagName, testid) => ({ tagName, dataset: testid ? { testid } : {} });
const page = [node("DIV"), node("BODY")];
const sidebar = [node("DIV"), node("SECTION", "stSidebar"), node("BODY")];
const both = { key: "Enter", ctrlKey: true };

test("in a field of the page it is the field's own", () => {
  assert.ok(belongsToField(both, [node("TEXTAREA"), ...page]));
  assert.ok(belongsToField({ key: "Enter", metaKey: true }, [node("INPUT"), ...page]));
});

test("in the sidebar, outside of fields, and for other keys it is not", () => {
  assert.ok(!belongsToField(both, [node("TEXTAREA"), ...sidebar]));
  assert.ok(!belongsToField(both, page));
  assert.ok(!belongsToField({ key: "Enter" }, [node("TEXTAREA"), ...page]));
  assert.ok(!belongsToField({ key: "x", ctrlKey: true }, [node("TEXTAREA"), ...page]));
});

test("a window or document on the path breaks nothing", () => {
  assert.ok(belongsToField(both, [node("INPUT"), {}, {}]));
});

test("a chart hears where a finger touches it before it takes the touch for a click", () => {
  globalThis.MouseEvent = class {
    constructor(type, options) {
      Object.assign(this, { type }, options);
    }
  };
  const heard = [];
  const target = { matches: (selector) => selector.includes(".nsewdrag"), dispatchEvent: (event) => heard.push(event) };
  hoverFirst({ touches: [{ clientX: 3, clientY: 4 }], target });
  assert.deepEqual({ ...heard[0] }, { type: "mousemove", clientX: 3, clientY: 4, bubbles: true });
  hoverFirst({ touches: [{}, {}], target }); // two fingers zoom
  hoverFirst({ touches: [{ clientX: 3, clientY: 4 }], target: { ...target, matches: () => false } });
  hoverFirst({ touches: [{ clientX: 3, clientY: 4 }], target: {} });
  assert.equal(heard.length, 1);
});
