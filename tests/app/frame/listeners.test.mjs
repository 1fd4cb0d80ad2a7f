// Who Ctrl+Enter belongs to, which touches are the browser's, and which files are opened.
import test from "node:test";
import assert from "node:assert/strict";
import { belongsToField } from "../../../bartviz/app/components/listeners/keys.js";
import { boxOf, successor } from "../../../bartviz/app/components/listeners/focus.js";
import { isForPage, tooLarge } from "../../../bartviz/app/components/listeners/files.js";
import { keep, kept } from "../../../bartviz/app/components/listeners/own_text.js";
import { leaveToBrowser } from "../../../bartviz/app/components/listeners/touch.js";
import { rephrased } from "../../../bartviz/app/components/listeners/words.js";

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

test("touches of a chart are the browser's, unless it is moved sideways; all others are heard", () => {
  const heard = (target) => {
    let stopped = false;
    leaveToBrowser({ target, stopPropagation: () => (stopped = true) });
    return !stopped;
  };
  const chart = (layout) => ({ closest: () => ({ closest: () => ({ layout }) }) });
  const [fixed, free] = [{ fixedrange: true }, {}];
  assert.ok(!heard(chart({})));
  assert.ok(!heard(chart({ dragmode: "zoom", xaxis: free, yaxis: fixed })));
  assert.ok(!heard(chart({ dragmode: "pan", xaxis: fixed, yaxis: fixed }))); // Streamlit's mode where points are chosen
  assert.ok(!heard(chart({ dragmode: "pan", xaxis: free, yaxis: free })));
  assert.ok(heard(chart({ dragmode: "pan", xaxis: free, yaxis: fixed }))); // the beam tree
  assert.ok(heard({ closest: () => null }));
  assert.ok(heard({})); // the document
});

test("files are the page's, unless they are over an uploader; texts and links are not", () => {
  const over = (uploader) => ({ closest: () => uploader });
  assert.ok(isForPage({ dataTransfer: { types: ["Files"] }, target: over(null) }));
  assert.ok(!isForPage({ dataTransfer: { types: ["Files"] }, target: over({}) }));
  assert.ok(!isForPage({ dataTransfer: { types: ["text/plain"] }, target: over(null) }));
  assert.ok(!isForPage({ dataTransfer: null, target: over(null) }));
});

test("the first file over the limit is kept back", () => {
  const files = [{ size: 8 }, { size: 9 }, { size: 10 }];
  assert.equal(tooLarge(files, 8), files[1]);
  assert.equal(tooLarge(files, 10), undefined);
  assert.equal(tooLarge(undefined, 1), undefined);
});

test("Streamlit's own phrases are said in the page's language, and back, and other texts are left alone", () => {
  const pairs = [
    ["Upload", "파일 선택"],
    ["{any} per file", "파일당 {any}"],
    ["Help for {any}", "도움말: {any}"],
  ];
  const back = pairs.map(([from, to]) => [to, from]);
  for (const [english, korean] of [
    ["Upload", "파일 선택"],
    ["8MB per file", "파일당 8MB"],
    ["Help for $& and $1", "도움말: $& and $1"],
  ]) {
    assert.equal(rephrased(english, pairs), korean);
    assert.equal(rephrased(korean, back), english);
  }
  for (const text of ["Uploaded", "upload", " per file", "", "Help for"])
    assert.equal(rephrased(text, pairs), undefined);
});

test("a button that is gone gives the focus to its like, else to what it brought, else to a button beside it", () => {
  const button = (textContent, disabled = false) => ({ textContent, disabled });
  const box = (buttons, brought = null) => ({ querySelectorAll: () => buttons, querySelector: () => brought });
  const [more, less, sentence] = [button(" Explain more "), button("Explain less"), {}];
  assert.equal(successor(box([less, more], sentence), "Explain more"), more);
  assert.equal(successor(box([less], sentence), "Explain more"), sentence);
  assert.equal(successor(box([button("Wait", true), less]), "Explain more"), less);
  assert.equal(successor(box([]), "Explain more"), undefined);
});

test("a box that gives the focus on is known by its key", () => {
  assert.equal(boxOf("stVerticalBlock st-key-focus_why_removal e196"), "st-key-focus_why_removal");
  assert.equal(boxOf("stVerticalBlock st-key-why"), undefined);
});

test("the own text of a tab is found again, and a browser without a store has none", () => {
  const stored = new Map();
  const store = { getItem: (name) => stored.get(name) ?? null, setItem: (name, value) => stored.set(name, value) };
  const own = { model: "bart-tiny-en-de", text: "It is late.", pair: "", target: "" };
  Object.defineProperty(globalThis, "sessionStorage", { value: store, configurable: true });
  assert.equal(kept(), null);
  keep(own);
  assert.deepEqual(kept(), own);
  for (const name of stored.keys()) stored.set(name, "{");
  assert.equal(kept(), null);
  Object.defineProperty(globalThis, "sessionStorage", { value: undefined, configurable: true });
  keep(own);
  assert.equal(kept(), null);
});
