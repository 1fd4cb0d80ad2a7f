// The file's data: what is compressed is read when it is needed. No document here, tested with `node --test`.

/** @import { Header, Part } from "./types.js" */

const MAGIC = "BVC1"; // of the canvas's buffers

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * The header, and a function that reads a part.
 * @param {string} text base64
 * @returns {Promise<{ header: Header, part: (place: Part) => Promise<Uint8Array> }>}
 */
export async function opened(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const end = 4 + new DataView(bytes.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(await inflated(bytes.slice(4, end))));
  return { header, part: ([offset, length]) => inflated(bytes.slice(end + offset, end + offset + length)) };
}

/**
 * The codes of a map: low bytes first, then high bytes.
 * @param {Uint8Array} bytes
 */
export function codesOf(bytes) {
  const count = bytes.length / 2,
    codes = new Uint16Array(count);
  for (let i = 0; i < count; i++) codes[i] = bytes[i] | (bytes[count + i] << 8);
  return codes;
}

/**
 * The mean of maps, as codes.
 * @param {Uint16Array[]} maps
 */
export function meanOf(maps) {
  const sum = new Float64Array(maps[0].length);
  for (const map of maps) for (let i = 0; i < sum.length; i++) sum[i] += map[i];
  return Uint16Array.from(sum, (value) => Math.round(value / maps.length));
}

/**
 * The heads, as indexes of `maps`, of which a map of the canvas is the mean: one alone where it is a head's.
 * @param {number[]} shape
 * @param {number} number
 */
export function headsOf([layers, heads], number) {
  const from = (first, count) => Array.from({ length: count }, (_, i) => first + i);
  if (number === layers * (heads + 1)) return from(0, layers * heads);
  const layer = Math.floor(number / (heads + 1)),
    head = number % (heads + 1);
  return head === heads ? from(layer * heads, heads) : [layer * heads + head];
}

/**
 * Some rows of a map, as weights.
 * @param {Uint16Array} codes
 * @param {number} columns
 * @param {number[]} rows
 * @param {number} unit
 */
export function rowsOf(codes, columns, rows, unit) {
  const weights = new Float32Array(rows.length * columns);
  rows.forEach((row, i) => {
    for (let column = 0; column < columns; column++)
      weights[i * columns + column] = codes[row * columns + column] / unit;
  });
  return weights;
}

/**
 * A buffer of the canvas, as `encode` in canvas/data.py makes it.
 * @param {object} meta
 * @param {[name: string, type: string, shape: number[], bytes: Uint8Array][]} arrays
 */
export function packed(meta, arrays) {
  const described = arrays.map(([name, type, shape]) => [name, type, shape]);
  const header = new TextEncoder().encode(JSON.stringify({ ...meta, arrays: described }));
  const buffer = new Uint8Array(8 + header.length + arrays.reduce((sum, [, , , bytes]) => sum + bytes.length, 0));
  buffer.set(new TextEncoder().encode(MAGIC));
  new DataView(buffer.buffer).setUint32(4, header.length, true);
  let at = 8;
  for (const bytes of [header, ...arrays.map(([, , , part]) => part)]) {
    buffer.set(bytes, at);
    at += bytes.length;
  }
  return buffer;
}

/**
 * Maps one after the other, as an array of a buffer.
 * @param {Uint16Array[]} maps
 * @param {number[]} shape
 * @returns {[name: string, type: string, shape: number[], bytes: Uint8Array]}
 */
export function tiles(maps, [, , rows, columns]) {
  const all = new Uint16Array(maps.length * rows * columns);
  maps.forEach((map, i) => all.set(map, i * rows * columns));
  return ["tiles", "uint16", [maps.length, rows, columns], new Uint8Array(all.buffer)];
}
