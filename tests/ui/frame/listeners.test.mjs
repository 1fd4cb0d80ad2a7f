// Who Ctrl+Enter belongs to.
import test from "node:test";
import assert from "node:assert/strict";
import { belongsToField } from "../../../bartviz/ui/components/listeners/keys.js";

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
