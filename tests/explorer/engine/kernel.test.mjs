// The compiled product of rows with a matrix of int8, beside the plain loop.
import assert from "node:assert/strict";
import test from "node:test";
import { product } from "../../../bartviz/explorer/engine/arithmetic.js";
import { kernel } from "../../../bartviz/explorer/engine/kernel.js";

let state = 1;
/** A random number from 0 to 1, the same ones in every run. */
const random = () => (state = (state * 48271) % 2147483647) / 2147483647;

/** A matrix of int8 in the memory of a kernel, and rows of numbers to multiply with it. */
function given(n, rows, columns) {
  const bytes = rows * columns + 4 * rows;
  const { buffer, linear } = kernel(bytes);
  const values = new Int8Array(buffer, 4 * rows, rows * columns).map(() => Math.floor(255 * random()) - 127);
  new Int8Array(buffer, 4 * rows, rows * columns).set(values);
  new Float32Array(buffer, 0, rows).set(Float32Array.from({ length: rows }, () => random() / 100));
  const matrix = {
    rows,
    columns,
    values: new Int8Array(buffer, 4 * rows, rows * columns),
    scales: new Float32Array(buffer, 0, rows),
  };
  const x = Float32Array.from({ length: n * columns }, () => 2 * random() - 1);
  return { buffer, linear, matrix, x, bias: Float32Array.from({ length: rows }, random) };
}

for (const [n, rows, columns] of [
  [1, 3, 8],
  [5, 7, 64],
  [2, 9, 12], // 12 is no multiple of 8: the plain loop
  [600, 16, 4096], // more than its memory takes at once
])
  test(`${n} rows with ${rows} x ${columns}`, () => {
    const { linear, matrix, x, bias } = given(n, rows, columns);
    for (const added of [null, bias]) {
      const [fast, plain] = [linear(x, n, matrix, added), product(x, n, matrix, added)];
      assert.equal(fast.length, n * rows);
      fast.forEach((value, i) => assert.ok(Math.abs(value - plain[i]) < 1e-3, `${i}: ${value} is not ${plain[i]}`));
    }
  });

test("the compiled code is used where a browser has it", () => {
  assert.ok(given(1, 8, 8).buffer.byteLength % 65_536 === 0, "plain memory: the kernel did not compile");
});
