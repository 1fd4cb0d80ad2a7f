// A network as data: its pass, with the queries, keys and values of every layer kept on a tape. Nothing here knows a
// family by name: model.py says by role which tensor does what, and how the layers are wired.

/** @import { Factors, Kind, Matrix, Roles, SideSpec, Spec, Taped } from "./types.js" */
import { ACTIVATIONS, add, layerNorm, product, part, rowOf, softmax } from "./arithmetic.js";

/**
 * The value of a generator that is run to its end. Passes are generators, which pause after each layer: a worker hears
 * its messages then, and may leave one unfinished.
 * @template T
 * @param {Generator<unknown, T>} work
 * @returns {T}
 */
export function finished(work) {
  for (;;) {
    const { done, value } = work.next();
    if (done) return /** @type {T} */ (value);
  }
}

export class Network {
  /**
   * @param {Spec} spec
   * @param {(Matrix | Float32Array)[]} tensors
   * @param {typeof product} linear
   */
  constructor(spec, tensors, linear = product) {
    const of = (roles) => new Tensors(roles, tensors, spec.epsilon, linear);
    this.spec = spec;
    this.encoder = spec.encoder && new Side(spec, spec.encoder, of);
    this.decoder = spec.decoder && new Side(spec, spec.decoder, of);
    this.head = of(spec.head);
  }

  /**
   * The encoder's pass over all tokens at once.
   * @param {number[]} ids
   * @param {{ segments?: number[], factors?: Factors }} options
   * @returns {Generator<void, { states: Float32Array, tape: Taped[] }>} states (S, d)
   */
  *encode(ids, { segments = null, factors = {} } = {}) {
    const side = this.encoder,
      n = ids.length,
      /** @type {Taped[]} */ tape = [];
    let x = side.embedded(ids, 0, segments);
    const { heads } = side.spec;
    for (const [number, layer] of side.layers.entries()) {
      yield;
      x = side.sublayer(layer, "self-attention", x, (y) => {
        const [q, k, v] = ["query", "key", "value"].map((role) => layer.linear(`self-attention ${role}`, y, n));
        const z = attended(q, n, k, v, n, heads);
        tape.push({ q, k, v, z });
        return layer.linear("self-attention output", scaled(z, side.whole.width, factors.encoder?.[number]), n);
      });
      x = side.sublayer(layer, "feed-forward", x, (y) => side.fed(layer, y, n));
    }
    return { states: side.outside.norm("final", x), tape };
  }

  /**
   * A decoder that is fed token by token, reading an encoder's states or nothing.
   * @param {Float32Array | null} states (S, d)
   * @param {Factors} factors
   */
  writer(states = null, factors = {}) {
    return new Writer(this, states, factors);
  }

  /**
   * The logits over the vocabulary of one state, or of several.
   * @param {Float32Array} x (n, d)
   * @param {number} n
   */
  logits(x, n) {
    const { head } = this;
    if (head.has("output transform weight")) {
      const activate = ACTIVATIONS[this.spec.activation];
      x = head.norm(
        "output",
        head.linear("output transform", x, n).map((value) => activate(value)),
      );
    }
    return head.linear("output layer", x, n);
  }
}

/** Tensors by role. */
class Tensors {
  /**
   * @param {Roles} roles
   * @param {(Matrix | Float32Array)[]} tensors
   * @param {number} epsilon
   * @param {typeof product} multiply
   */
  constructor(roles, tensors, epsilon, multiply) {
    this.roles = roles;
    this.tensors = tensors;
    this.epsilon = epsilon;
    this.multiply = multiply;
  }

  has(role) {
    return role in this.roles;
  }

  /** @returns {any} */
  get(role) {
    return this.has(role) ? this.tensors[this.roles[role]] : null;
  }

  /**
   * @param {string} role
   * @param {Float32Array} x (n, in)
   * @param {number} n
   */
  linear(role, x, n) {
    return this.multiply(x, n, this.get(`${role} weight`), this.get(`${role} bias`));
  }

  /**
   * x, normalised where there is such a norm.
   * @param {string} role
   * @param {Float32Array} x
   */
  norm(role, x) {
    const weight = this.get(`${role} layer norm weight`);
    if (!weight) return x;
    return layerNorm(x, { weight, bias: this.get(`${role} layer norm bias`), epsilon: this.epsilon });
  }
}

/** An encoder or a decoder. */
class Side {
  /**
   * @param {Spec} whole
   * @param {SideSpec} spec
   * @param {(roles: Roles) => Tensors} of
   */
  constructor(whole, spec, of) {
    this.whole = whole;
    this.spec = spec;
    this.outside = of(spec.roles);
    this.layers = spec.layers.map(of);
  }

  /**
   * Embeddings of tokens at positions from `first` on, (n, d).
   * @param {number[]} ids
   * @param {number} first
   * @param {number[] | null} segments
   */
  embedded(ids, first, segments) {
    const { outside, whole } = this;
    const tokens = outside.get("token embedding"),
      positions = outside.get("position embedding"),
      kinds = outside.get("segment embedding");
    const x = new Float32Array(ids.length * tokens.columns);
    ids.forEach((id, i) => {
      const row = part(x, i, tokens.columns);
      add(row, rowOf(tokens, id, whole.factor));
      if (positions) add(row, rowOf(positions, first + i + whole.offset));
      if (kinds) add(row, rowOf(kinds, segments?.[i] ?? 0));
    });
    const y = outside.norm("embedding", x);
    return outside.has("embedding projection weight") ? outside.linear("embedding projection", y, ids.length) : y;
  }

  /**
   * What a sublayer makes of x (n, d), added to x, normalised after the sum or before the sublayer.
   * @param {Tensors} layer
   * @param {string} role
   * @param {Float32Array} x
   * @param {(y: Float32Array) => Float32Array} work
   */
  sublayer(layer, role, x, work) {
    if (this.whole.norm === "pre") return add(work(layer.norm(role, x)), x);
    return layer.norm(role, add(work(x), x));
  }

  /**
   * @param {Tensors} layer
   * @param {Float32Array} y (n, d)
   * @param {number} n
   */
  fed(layer, y, n) {
    const activate = ACTIVATIONS[this.whole.activation];
    return layer.linear(
      "feed-forward out",
      layer.linear("feed-forward in", y, n).map((value) => activate(value)),
      n,
    );
  }
}

/** Numbers that grow by a row with each token. */
class Rows {
  constructor(width) {
    this.width = width;
    this.count = 0;
    this.values = new Float32Array(16 * width);
  }

  /** @param {Float32Array} rows */
  push(rows) {
    const used = this.count * this.width;
    if (used + rows.length > this.values.length) {
      const larger = new Float32Array(2 * (used + rows.length));
      larger.set(this.values);
      this.values = larger;
    }
    this.values.set(rows, used);
    this.count += rows.length / this.width;
  }

  get all() {
    return this.values.subarray(0, this.count * this.width);
  }

  copy() {
    const copied = new Rows(this.width);
    copied.push(this.all);
    return copied;
  }
}

/** A decoder at work: what it has read so far, and the tape of it. */
class Writer {
  /**
   * @param {Network} network
   * @param {Float32Array | null} states (S, d)
   * @param {Factors} factors
   */
  constructor(network, states, factors) {
    this.network = network;
    this.factors = factors;
    this.count = 0;
    if (!network.decoder) return;
    const { layers } = network.decoder,
      { width } = network.spec,
      source = states ? states.length / width : 0;
    this.source = source;
    this.own = layers.map(() => ({ q: new Rows(width), k: new Rows(width), v: new Rows(width), z: new Rows(width) }));
    this.cross = states
      ? layers.map((layer) => ({
          q: new Rows(width),
          z: new Rows(width),
          k: layer.linear("cross-attention key", states, source),
          v: layer.linear("cross-attention value", states, source),
        }))
      : null;
  }

  /** A writer that has read the same, and goes on by itself. */
  copy() {
    const copied = new Writer(this.network, null, this.factors);
    copied.count = this.count;
    copied.source = this.source;
    copied.own = this.own.map(({ q, k, v, z }) => ({ q: q.copy(), k: k.copy(), v: v.copy(), z: z.copy() }));
    copied.cross = this.cross?.map(({ q, k, v, z }) => ({ q: q.copy(), k, v, z: z.copy() })) ?? null;
    return copied;
  }

  /**
   * Read tokens and give the states after them, (n, d).
   * @param {number[]} ids
   * @returns {Generator<void, Float32Array>}
   */
  *read(ids) {
    const side = this.network.decoder,
      { heads } = side.spec,
      n = ids.length;
    let x = side.embedded(ids, this.count, null);
    for (const [number, layer] of side.layers.entries()) {
      yield;
      const own = this.own[number],
        cross = this.cross?.[number];
      x = side.sublayer(layer, "self-attention", x, (y) => {
        const [q, k, v] = ["query", "key", "value"].map((role) => layer.linear(`self-attention ${role}`, y, n));
        own.q.push(q);
        own.k.push(k);
        own.v.push(v);
        const z = attended(q, n, own.k.all, own.v.all, own.k.count, heads, this.count);
        own.z.push(z);
        return layer.linear("self-attention output", scaled(z, side.whole.width, this.factors.decoder?.[number]), n);
      });
      if (cross)
        x = side.sublayer(layer, "cross-attention", x, (y) => {
          const q = layer.linear("cross-attention query", y, n);
          cross.q.push(q);
          const z = attended(q, n, cross.k, cross.v, this.source, heads);
          cross.z.push(z);
          return layer.linear("cross-attention output", scaled(z, side.whole.width, this.factors.cross?.[number]), n);
        });
      x = side.sublayer(layer, "feed-forward", x, (y) => side.fed(layer, y, n));
    }
    this.count += n;
    return side.outside.norm("final", x);
  }

  /**
   * Read tokens and give the logits after the last, (V,).
   * @param {number[]} ids
   * @returns {Generator<void, Float32Array>}
   */
  *next(ids) {
    const states = yield* this.read(ids);
    return this.network.logits(part(states, ids.length - 1, this.network.spec.width), 1);
  }

  /** @returns {Partial<Record<Kind, Taped[]>>} */
  get tape() {
    /** @type {Partial<Record<Kind, Taped[]>>} */
    const tape = { decoder: this.own.map(({ q, k, v, z }) => ({ q: q.all, k: k.all, v: v.all, z: z.all })) };
    if (this.cross) tape.cross = this.cross.map(({ q, k, v, z }) => ({ q: q.all, k, v, z: z.all }));
    return tape;
  }
}

/**
 * What all heads, side by side, take from the values: softmax(q k^T / sqrt(d)) v (Vaswani et al. 2017, equation 1).
 * @param {Float32Array} q (n, H * d)
 * @param {number} n
 * @param {Float32Array} k (m, H * d)
 * @param {Float32Array} v (m, H * d)
 * @param {number} m
 * @param {number} heads
 * @param {number | null} before keys that all rows may see, for a causal mask; null: every row sees every key
 */
function attended(q, n, k, v, m, heads, before = null) {
  const width = q.length / n,
    d = width / heads,
    z = new Float32Array(n * width);
  for (let head = 0; head < heads; head++)
    for (let i = 0; i < n; i++) {
      const weights = weightsOf(q, i, k, before === null ? m : before + i + 1, width, head * d, d);
      const at = i * width + head * d;
      for (let j = 0; j < weights.length; j++) {
        const from = j * width + head * d;
        for (let c = 0; c < d; c++) z[at + c] += weights[j] * v[from + c];
      }
    }
  return z;
}

/**
 * The heads' outputs z (n, width), each times the factor of its head.
 * @param {Float32Array} z
 * @param {number} width
 * @param {Float32Array | null} factors (H,)
 */
function scaled(z, width, factors = null) {
  if (!factors) return z;
  const d = width / factors.length;
  return z.map((value, i) => value * factors[Math.floor((i % width) / d)]);
}

/**
 * The weights of query row i over the first `keys` keys, for the head whose columns are `at` to `at + d`.
 * @param {Float32Array} q
 * @param {number} i
 * @param {Float32Array} k
 * @param {number} keys
 * @param {number} width
 */
export function weightsOf(q, i, k, keys, width, at, d) {
  const weights = new Float32Array(keys),
    scale = 1 / Math.sqrt(d),
    row = i * width + at;
  for (let j = 0; j < keys; j++) {
    const from = j * width + at;
    let score = 0;
    for (let c = 0; c < d; c++) score += q[row + c] * k[from + c];
    weights[j] = score * scale;
  }
  return softmax(weights);
}
