// Which key presses walk a lesson.
import test from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const script = readFileSync(new URL("../../bartviz/ui/components/lessons/lessons.js", import.meta.url), "utf8");
const { letterOf, isField, meant } = await import(`data:text/javascript;base64,${Buffer.from(script).toString("base64")}`);

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

test("a presenter's clicker walks in large type alone", () => {
  assert.equal(meant({ key: "PageDown" }, page, true), "next");
  assert.equal(meant({ key: "PageUp" }, page, true), "back");
  assert.equal(meant({ key: "PageDown" }, page, false), "");
});

test("what is typed, held, taken by somebody else or part of a shortcut is left alone", () => {
  for (const tagName of ["INPUT", "TEXTAREA", "SELECT"]) assert.equal(meant({ key: "n" }, [{ tagName }, ...page], false), "");
  assert.equal(meant({ key: "n" }, [{ tagName: "DIV", isContentEditable: true }], false), "");
  for (const held of ["ctrlKey", "metaKey", "altKey", "repeat", "isComposing", "defaultPrevented"]) assert.equal(meant({ key: "n", [held]: true }, page, false), "");
});

test("a slider or a switch has no text to type into", () => {
  assert.ok(!isField([{ tagName: "INPUT", type: "range" }]));
  assert.ok(!isField([{ tagName: "INPUT", type: "checkbox" }]));
  assert.ok(isField([{ tagName: "INPUT", type: "text" }]));
  assert.ok(!isField([]));
});
