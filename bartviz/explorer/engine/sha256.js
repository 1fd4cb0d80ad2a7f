// SHA-256 (FIPS 180-4): a browser offers its own only to pages that come by https or from the disk.

const PRIMES = [];
for (let n = 2; PRIMES.length < 64; n++) if (PRIMES.every((prime) => n % prime)) PRIMES.push(n);

/** The first 32 bits of the fraction of a root. */
const fraction = (root) => Math.floor((root - Math.floor(root)) * 2 ** 32);
const START = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const ROUNDS = PRIMES.map((prime) => fraction(Math.cbrt(prime)));
const BLOCK = 64; // bytes

const turned = (x, by) => (x >>> by) | (x << (32 - by));

/**
 * The digest of bytes that come in parts, in hexadecimal.
 * @param {Iterable<Uint8Array>} parts
 */
export function sha256(parts) {
  const state = Int32Array.from(START, (x) => x | 0),
    block = new Uint8Array(BLOCK);
  let [used, total] = [0, 0];
  const push = (bytes) => {
    total += bytes.length;
    for (let at = 0; at < bytes.length;) {
      const taken = Math.min(BLOCK - used, bytes.length - at);
      block.set(bytes.subarray(at, at + taken), used);
      [used, at] = [used + taken, at + taken];
      if (used === BLOCK) {
        mixed(state, block);
        used = 0;
      }
    }
  };
  for (const bytes of parts) push(bytes);
  const bits = BigInt(total) * 8n,
    end = new Uint8Array((used < 56 ? 56 : 120) - used + 8);
  end[0] = 128;
  new DataView(end.buffer).setBigUint64(end.length - 8, bits);
  push(end);
  return [...state].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/**
 * @param {Int32Array} state of eight words, which the block changes
 * @param {Uint8Array} block
 */
function mixed(state, block) {
  const words = new Int32Array(64),
    view = new DataView(block.buffer);
  for (let i = 0; i < 16; i++) words[i] = view.getInt32(4 * i);
  for (let i = 16; i < 64; i++) {
    const [a, b] = [words[i - 15], words[i - 2]];
    words[i] =
      words[i - 16] +
      (turned(a, 7) ^ turned(a, 18) ^ (a >>> 3)) +
      words[i - 7] +
      (turned(b, 17) ^ turned(b, 19) ^ (b >>> 10));
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i++) {
    const one = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[i] + words[i]) | 0;
    const two = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] += word));
}
