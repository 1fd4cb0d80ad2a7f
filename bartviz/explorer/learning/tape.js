// The operations of a small network, each with its gradient: forwards they write on a tape, backwards the tape is read
// from its end. A tensor of n rows and d columns has n * d values, row after row, and as many gradients.

/**
 * @typedef {Float32Array | Float64Array} Numbers
 * @typedef {{ rows: number, columns: number, value: Numbers, gradient: Numbers }} Tensor
 */

/** What one pass leaves behind. Its memory is used again by the next pass. */
export class Tape {
  /** @param {Float32ArrayConstructor | Float64ArrayConstructor} Kind of numbers */
  constructor(Kind = Float32Array) {
    this.Kind = Kind;
    /** @type {Numbers} */
    this.memory = new Kind(1 << 16);
    this.used = 0;
    /** @type {(() => void)[]} */
    this.steps = [];
  }

  clear() {
    this.used = 0;
    this.steps = [];
  }

  /** `count` zeros. */
  zeros(count) {
    if (this.used + count > this.memory.length) {
      this.memory = new this.Kind(2 * (this.memory.length + count)); // tensors in the old one keep it
      this.used = 0;
    }
    return this.memory.subarray(this.used, (this.used += count)).fill(0);
  }

  /** @returns {Tensor} of zeros */
  tensor(rows, columns) {
    return { rows, columns, value: this.zeros(rows * columns), gradient: this.zeros(rows * columns) };
  }

  /** The gradients of everything on the tape, from those of its last tensor. */
  backward() {
    for (let i = this.steps.length - 1; i >= 0; i--) this.steps[i]();
  }
}

/** The rows of a table at these ids, each with the row of its position added: (ids, columns). */
export function embedded(tape, ids, table, positions, length) {
  const width = table.columns,
    y = tape.tensor(ids.length, width);
  for (let n = 0; n < ids.length; n++)
    for (let i = 0, to = n * width, from = ids[n] * width, at = (n % length) * width; i < width; i++)
      y.value[to + i] = table.value[from + i] + positions.value[at + i];
  tape.steps.push(() => {
    for (let n = 0; n < ids.length; n++)
      for (let i = 0, to = n * width, from = ids[n] * width, at = (n % length) * width; i < width; i++) {
        table.gradient[from + i] += y.gradient[to + i];
        positions.gradient[at + i] += y.gradient[to + i];
      }
  });
  return y;
}

/** x (n, in) times w (in, out), plus b (1, out): (n, out). */
export function linear(tape, x, w, b) {
  const { rows, columns: inner } = x,
    outer = w.columns,
    y = tape.tensor(rows, outer);
  for (let n = 0; n < rows; n++) y.value.set(b.value, n * outer);
  addProduct(x.value, w.value, y.value, rows, inner, outer);
  tape.steps.push(() => {
    for (let n = 0, at = 0; n < rows; n++) for (let o = 0; o < outer; o++, at++) b.gradient[o] += y.gradient[at];
    addProduct(transposed(tape, x.value, rows, inner), y.gradient, w.gradient, inner, rows, outer);
    addProduct(y.gradient, transposed(tape, w.value, inner, outer), x.gradient, rows, outer, inner);
  });
  return y;
}

function transposed(tape, a, rows, columns) {
  const found = tape.zeros(rows * columns);
  for (let i = 0, at = 0; i < rows; i++) for (let j = 0; j < columns; j++, at++) found[j * rows + i] = a[at];
  return found;
}

/** y (rows, outer) += a (rows, inner) times b (inner, outer), four rows of b at a time: y is read a quarter as often. */
function addProduct(a, b, y, rows, inner, outer) {
  const even = inner - (inner % 4);
  for (let n = 0; n < rows; n++) {
    const to = n * outer,
      from = n * inner;
    for (let k = 0; k < even; k += 4) {
      const a0 = a[from + k],
        a1 = a[from + k + 1],
        a2 = a[from + k + 2],
        a3 = a[from + k + 3],
        b0 = k * outer,
        b1 = b0 + outer,
        b2 = b1 + outer,
        b3 = b2 + outer;
      for (let o = 0; o < outer; o++) y[to + o] += a0 * b[b0 + o] + a1 * b[b1 + o] + a2 * b[b2 + o] + a3 * b[b3 + o];
    }
    for (let k = even; k < inner; k++)
      for (let o = 0, at = k * outer; o < outer; o++) y[to + o] += a[from + k] * b[at + o];
  }
}

export function sum(tape, a, b) {
  const y = tape.tensor(a.rows, a.columns);
  for (let i = 0; i < y.value.length; i++) y.value[i] = a.value[i] + b.value[i];
  tape.steps.push(() => {
    for (let i = 0; i < y.value.length; i++) {
      a.gradient[i] += y.gradient[i];
      b.gradient[i] += y.gradient[i];
    }
  });
  return y;
}

export function relu(tape, x) {
  const y = tape.tensor(x.rows, x.columns);
  for (let i = 0; i < y.value.length; i++) y.value[i] = Math.max(0, x.value[i]);
  tape.steps.push(() => {
    for (let i = 0; i < y.value.length; i++) if (x.value[i] > 0) x.gradient[i] += y.gradient[i];
  });
  return y;
}

const EPSILON = 1e-5; // as in PyTorch

/** Each row with mean 0 and variance 1, times a gain (1, d), plus a bias (1, d). */
export function layerNorm(tape, x, gain, bias) {
  const { rows, columns: width } = x,
    y = tape.tensor(rows, width),
    normal = tape.zeros(rows * width),
    scales = tape.zeros(rows);
  for (let n = 0; n < rows; n++) {
    const at = n * width;
    let mean = 0,
      variance = 0;
    for (let i = 0; i < width; i++) mean += x.value[at + i] / width;
    for (let i = 0; i < width; i++) variance += (x.value[at + i] - mean) ** 2 / width;
    scales[n] = 1 / Math.sqrt(variance + EPSILON);
    for (let i = 0; i < width; i++) {
      normal[at + i] = (x.value[at + i] - mean) * scales[n];
      y.value[at + i] = normal[at + i] * gain.value[i] + bias.value[i];
    }
  }
  tape.steps.push(() => {
    for (let n = 0; n < rows; n++) {
      const at = n * width;
      let mean = 0,
        along = 0;
      for (let i = 0; i < width; i++) {
        const g = y.gradient[at + i];
        gain.gradient[i] += g * normal[at + i];
        bias.gradient[i] += g;
        mean += (g * gain.value[i]) / width;
        along += (g * gain.value[i] * normal[at + i]) / width;
      }
      for (let i = 0; i < width; i++)
        x.gradient[at + i] += scales[n] * (y.gradient[at + i] * gain.value[i] - mean - normal[at + i] * along);
    }
  });
  return y;
}

/**
 * softmax(q k^T / sqrt(d)) v for each text and head: (texts * queries, width), and the weights (texts, heads, queries,
 * keys), whose rows sum to 1. causal: a query sees no key after its own place.
 */
export function attention(tape, q, k, v, texts, heads, causal) {
  const width = q.columns,
    d = width / heads,
    queries = q.rows / texts,
    keys = k.rows / texts,
    scale = 1 / Math.sqrt(d),
    y = tape.tensor(q.rows, width),
    weights = tape.zeros(texts * heads * queries * keys);
  const seen = (row) => (causal ? row + 1 : keys);
  /** Calls `use(row of q, first row of k, where the row's weights begin, how many keys it sees)`, in numbers. */
  const each = (use) => {
    for (let text = 0, at = 0; text < texts; text++)
      for (let head = 0; head < heads; head++)
        for (let row = 0; row < queries; row++, at += keys)
          use((text * queries + row) * width + head * d, text * keys * width + head * d, at, seen(row));
  };
  each((from, key, at, count) => {
    let highest = -Infinity,
      total = 0;
    for (let j = 0, other = key; j < count; j++, other += width) {
      let score = 0;
      for (let i = 0; i < d; i++) score += q.value[from + i] * k.value[other + i];
      weights[at + j] = score * scale;
      highest = Math.max(highest, score * scale);
    }
    for (let j = 0; j < count; j++) total += weights[at + j] = Math.exp(weights[at + j] - highest);
    for (let j = 0, other = key; j < count; j++, other += width) {
      const weight = (weights[at + j] /= total);
      for (let i = 0; i < d; i++) y.value[from + i] += weight * v.value[other + i];
    }
  });
  tape.steps.push(() => {
    const slopes = tape.zeros(keys);
    each((from, key, at, count) => {
      let mean = 0;
      for (let j = 0, other = key; j < count; j++, other += width) {
        let slope = 0;
        for (let i = 0; i < d; i++) {
          slope += y.gradient[from + i] * v.value[other + i];
          v.gradient[other + i] += weights[at + j] * y.gradient[from + i];
        }
        slopes[j] = slope;
        mean += slope * weights[at + j];
      }
      for (let j = 0, other = key; j < count; j++, other += width) {
        const slope = weights[at + j] * (slopes[j] - mean) * scale;
        for (let i = 0; i < d; i++) {
          q.gradient[from + i] += slope * k.value[other + i];
          k.gradient[other + i] += slope * q.value[from + i];
        }
      }
    });
  });
  return { y, weights };
}

/** The sum of -log softmax(logits)[target] over all rows, in nats, divided by `count`; its gradient is left in the logits. */
export function crossEntropy(logits, targets, count) {
  const { rows, columns, value, gradient } = logits;
  let loss = 0;
  for (let n = 0; n < rows; n++) {
    const at = n * columns;
    let highest = -Infinity,
      total = 0;
    for (let i = 0; i < columns; i++) highest = Math.max(highest, value[at + i]);
    for (let i = 0; i < columns; i++) total += Math.exp(value[at + i] - highest);
    for (let i = 0; i < columns; i++)
      gradient[at + i] = (Math.exp(value[at + i] - highest) / total - (i === targets[n] ? 1 : 0)) / count;
    loss -= (value[at + targets[n]] - highest - Math.log(total)) / count;
  }
  return loss;
}
