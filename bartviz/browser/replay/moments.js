// The bytes of a replay, and what is asked of them: pure functions, tested with `node --test`.

/** about (JSON) and its arrays, as views on the same bytes: name -> { shape, bytes }. */
export function unpack(data) {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
    length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true),
    about = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))),
    arrays = new Map();
  let from = 4 + length;
  for (const [name, ...shape] of about.arrays) {
    const size = shape.reduce((all, one) => all * one, 1);
    arrays.set(name, { shape, bytes: bytes.subarray(from, from + size) });
    from += size;
  }
  return { about, arrays };
}

/** The bytes of a replay with more in its description. */
export function described(bytes, more) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true),
    about = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))),
    head = new TextEncoder().encode(JSON.stringify({ ...about, ...more })),
    arrays = bytes.subarray(4 + length),
    whole = new Uint8Array(4 + head.length + arrays.length);
  new DataView(whole.buffer).setUint32(0, head.length, true);
  whole.set(head, 4);
  whole.set(arrays, 4 + head.length);
  return whole;
}

/** The mean of a head and a measure at each moment, with its interval; NaN where it is not defined. */
export function curve({ shape: [moments, , heads, measures], bytes }, layer, head, measure) {
  const layers = bytes.length / (moments * heads * measures * 3);
  return Array.from({ length: moments }, (_, moment) => {
    const at = (((moment * layers + layer) * heads + head) * measures + measure) * 3,
      [mean, low, high] = bytes.subarray(at, at + 3);
    return low > high ? [NaN, NaN, NaN] : [mean / 255, low / 255, high / 255];
  });
}

/** The weight of a cell of a head's map at a moment. */
export function weights({ shape: [, layers, heads, rows, columns], bytes }, moment, layer, head) {
  const from = ((moment * layers + layer) * heads + head) * rows * columns;
  return (row, column) => bytes[from + row * columns + column] / 255;
}

/** The place of a step on the axis, 0 to 1: training is fast at first. */
export const axisPlace = (step, last) => Math.log1p(step) / Math.log1p(Math.max(1, last));

/** Steps to name on the axis: none, and the powers of ten. */
export function ticks(last) {
  const found = [0];
  for (let step = 10; step <= last; step *= 10) found.push(step);
  return found;
}

/** The last value that was measured at a step or before; undefined if there is none. */
export const valueAt = (points, step) => points.findLast(([at]) => at <= step)?.[1];

/** The number of the curve with the highest mean at a moment; -1 if none is defined. */
export function highest(curves, moment) {
  let found = -1;
  curves.forEach((one, at) => {
    const mean = one[moment][0];
    if (Number.isFinite(mean) && (found < 0 || mean > curves[found][moment][0])) found = at;
  });
  return found;
}

/** Whether the intervals of all curves can be told apart: at half of the moments they fill the picture at most once. */
export function legible(curves) {
  const filled = (curves[0] ?? []).map((_, moment) =>
    curves.reduce((sum, one) => sum + (one[moment][2] - one[moment][1] || 0), 0),
  );
  return filled.filter((sum) => sum <= 1).length >= filled.length / 2;
}
