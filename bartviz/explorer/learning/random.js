// Random numbers that a seed determines, the same in every browser (mulberry32).

/** @param {number} seed a whole number */
export function randomly(seed) {
  let state = Math.imul(seed + 1, 0x9e3779b1);
  const share = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    /** From 0 to below 1. */
    share,
    /** A whole number from 0 to below `count`. */
    below: (count) => Math.floor(share() * count),
    /** Mean 0 and variance 1 (Box and Muller). */
    normal: () => Math.sqrt(-2 * Math.log(1 - share())) * Math.cos(2 * Math.PI * share()),
  };
}
