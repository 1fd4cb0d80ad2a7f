// Who Ctrl+Enter belongs to, and which touches are the browser's.
import test from "node:test";
import assert from "node:assert/strict";
import { belongsToField } from "../../../bartviz/ui/components/listeners/keys.js";
import { leaveToBrowser } from "../../../bartviz/ui/components/listeners/touch.js";

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

test("touches of a chart's area are the browser's, those of its buttons and of all else are heard", () => {
  const heard = (target) => {
    let stopped = false;
    leaveToBrowser({ target, stopPropagation: () => (stopped = true) });
    return !stopped;
  };
  const inside = (place) => ({ closest: (selector) => (selector.endsWith(place) ? {} : null) });
  assert.ok(!heard(inside(".draglayer")));
  assert.ok(heard(inside(".modebar")));
  assert.ok(heard({})); // the document
});
