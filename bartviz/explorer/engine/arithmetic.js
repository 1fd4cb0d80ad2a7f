// The arithmetic of a network on rows of numbers: matrices, norms, activations, softmax. No document here.
// A tensor of n rows and d columns is a Float32Array of n * d numbers, row after row.

/** @import { Matrix } from "./types.js" */

/**
 * Each row of x (n, in) times the matrix (out, in), transposed: (n, out).
 *
 * A row of the matrix is read once for four rows of x, which is what makes an encoder fast without vectors.
 * @param {Float32Array} x
 * @param {number} n
 * @param {Matrix} matrix
 * @param {Float32Array | null} bias of length out
 */
export function product(x, n, { rows, columns, values, scales }, bias) {
  const y = new Float32Array(n * rows);
  let i = 0;
  for (; i + 4 <= n; i += 4) {
    const [a, b, c, d] = [0, 1, 2, 3].map((more) => new Float64Array(part(x, i + more, columns)));
    for (let row = 0, at = 0; row < rows; row++) {
      let [sa, sb, sc, sd] = [0, 0, 0, 0];
      for (let k = 0; k < columns; k++, at++) {
        const w = values[at];
        sa += a[k] * w;
        sb += b[k] * w;
        sc += c[k] * w;
        sd += d[k] * w;
      }
      const scale = scales ? scales[row] : 1,
        more = bias ? bias[row] : 0;
      y[i * rows + row] = sa * scale + more;
      y[(i + 1) * rows + row] = sb * scale + more;
      y[(i + 2) * rows + row] = sc * scale + more;
      y[(i + 3) * rows + row] = sd * scale + more;
    }
  }
  for (; i < n; i++) {
    const a = new Float64Array(part(x, i, columns));
    for (let row = 0; row < rows; row++)
      y[i * rows + row] = dot(a, values, row * columns, columns) * (scales ? scales[row] : 1) + (bias ? bias[row] : 0);
  }
  return y;
}

/**
 * The product of a with `count` numbers of b from `at`, in four sums that do not wait for each other.
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
function dot(a, b, at, count) {
  let [s0, s1, s2, s3] = [0, 0, 0, 0];
  let k = 0;
  for (; k + 4 <= count; k += 4) {
    s0 += a[k] * b[at + k];
    s1 += a[k + 1] * b[at + k + 1];
    s2 += a[k + 2] * b[at + k + 2];
    s3 += a[k + 3] * b[at + k + 3];
  }
  for (; k < count; k++) s0 += a[k] * b[at + k];
  return s0 + s1 + s2 + s3;
}

/** Row i of a tensor with d columns. */
export const part = (x, i, d) => x.subarray(i * d, (i + 1) * d);

/**
 * Row `row` of a matrix, as numbers, times `factor`.
 * @param {Matrix} matrix
 */
export function rowOf({ columns, values, scales }, row, factor = 1) {
  const scale = (scales ? scales[row] : 1) * factor;
  return Float32Array.from(values.subarray(row * columns, (row + 1) * columns), (value) => value * scale);
}

/** a + b, number by number, into a. */
export function add(a, b) {
  for (let i = 0; i < a.length; i++) a[i] += b[i];
  return a;
}

/**
 * Layer normalisation of every row (Ba, Kiros and Hinton 2016, equation 4).
 * @param {Float32Array} x
 * @param {{ weight: Float32Array, bias: Float32Array | null, epsilon: number }} norm
 */
export function layerNorm(x, { weight, bias, epsilon }) {
  const d = weight.length,
    y = new Float32Array(x.length);
  for (let at = 0; at < x.length; at += d) {
    let mean = 0,
      variance = 0;
    for (let k = 0; k < d; k++) mean += x[at + k];
    mean /= d;
    for (let k = 0; k < d; k++) variance += (x[at + k] - mean) ** 2;
    const scale = 1 / Math.sqrt(variance / d + epsilon);
    for (let k = 0; k < d; k++) y[at + k] = (x[at + k] - mean) * scale * weight[k] + (bias ? bias[k] : 0);
  }
  return y;
}

/** The error function, within 1.5e-7 (Abramowitz and Stegun 1964, formula 7.1.26). */
function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return Math.sign(x) * (1 - series * Math.exp(-x * x));
}

/** By the names that configurations give them. */
export const ACTIVATIONS = {
  gelu: (x) => 0.5 * x * (1 + erf(x * Math.SQRT1_2)),
  gelu_new: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  relu: (x) => Math.max(x, 0),
  silu: (x) => x / (1 + Math.exp(-x)),
  tanh: Math.tanh,
};

/** Softmax of a row, in place; entries that are -Infinity become 0, and all do where every entry is. */
export function softmax(row) {
  let most = -Infinity,
    sum = 0;
  for (const value of row) if (value > most) most = value;
  if (most === -Infinity) return row.fill(0);
  for (let i = 0; i < row.length; i++) sum += row[i] = Math.exp(row[i] - most);
  for (let i = 0; i < row.length; i++) row[i] /= sum;
  return row;
}

/** The logarithm of the sum of exponentials: log p of a token is its logit minus this. */
export function logSum(row) {
  let most = -Infinity,
    sum = 0;
  for (const value of row) if (value > most) most = value;
  for (const value of row) sum += Math.exp(value - most);
  return most + Math.log(sum);
}
