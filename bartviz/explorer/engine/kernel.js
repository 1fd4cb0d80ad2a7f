// The product of rows with a matrix of int8: compiled for vectors of four numbers where the browser has them, which is
// ten times as fast as the loop in arithmetic.js.

import { product } from "./arithmetic.js";

const CODE =
  "AGFzbQEAAAABEgJgA39/fwF9YAd/f39/f39/AAIQAQRwYWdlBm1lbW9yeQIAAQMDAgABBwoBBmxpbmVhcgABCukBAoABAgF/A3sgASACaiEDA0AgASADSQRAIAH9AQMAIQQgBSAA/QAEACAE/acB/foB/eYB/eQBIQUgBiAA/QAEECAE/agB/foB/eYB/eQBIQYgAUEIaiEBIABBIGohAAwBCwsgBSAG/eQBIQUgBf0fACAF/R8BkiAF/R8CIAX9HwOSkgtlAQJ/A0AgByAFSQRAQQAhCANAIAggAUkEQCAEIAggBWwgB2pBAnRqIAMgB0ECdGoqAgAgACAIIAZsQQJ0aiACIAYQAJQ4AgAgCEEBaiEIDAELCyACIAZqIQIgB0EBaiEHDAELCws="; // kernel.wat, compiled
const PAGE = 65_536; // bytes of a page of such a memory
const ROOM = 4_194_304; // bytes for the numbers that are multiplied and their products

/**
 * Memory for the tensors of a model, and the function that multiplies with them; plain memory and the plain loop where
 * the browser cannot run the compiled one.
 * @param {number} bytes
 * @returns {{ buffer: ArrayBuffer, linear: typeof product }}
 */
export function kernel(bytes) {
  let memory, multiply;
  try {
    const module = new WebAssembly.Module(Uint8Array.from(atob(CODE), (sign) => sign.charCodeAt(0)));
    const pages = Math.ceil((bytes + ROOM) / PAGE);
    memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    multiply = new WebAssembly.Instance(module, { page: { memory } }).exports.linear;
  } catch (error) {
    if (error instanceof RangeError) throw error; // no memory for the model at all
    return { buffer: new ArrayBuffer(bytes), linear: product };
  }
  const { buffer } = memory,
    room = Math.ceil(bytes / 16) * 16;
  return {
    buffer,
    linear(x, n, matrix, bias) {
      const { rows, columns, values, scales } = matrix;
      const most = Math.floor((buffer.byteLength - room) / 4 / (rows + columns)); // rows of x at once
      if (values.buffer !== buffer || !scales || columns % 8 || most < 1) return product(x, n, matrix, bias);
      const y = new Float32Array(n * rows);
      for (let first = 0; first < n; first += most) {
        const count = Math.min(most, n - first),
          after = room + 4 * count * columns;
        new Float32Array(buffer, room, count * columns).set(x.subarray(first * columns, (first + count) * columns));
        multiply(room, count, values.byteOffset, scales.byteOffset, after, rows, columns);
        y.set(new Float32Array(buffer, after, count * rows), first * rows);
      }
      if (bias) for (let i = 0; i < n; i++) for (let row = 0; row < rows; row++) y[i * rows + row] += bias[row];
      return y;
    },
  };
}
