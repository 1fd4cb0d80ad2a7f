// Where the heads of a training have come to look: the answer of the guess, from what was measured.

export const JUDGED = 100; // texts of a judgement
const SHOWS = 0.4; // the mean weight from which a place is bright
const LITTLE = 0.05; // a line is the answer if it has as much as the place that the word comes from, but for this

export const percent = (share) => `${Math.round(100 * share)}%`;

/**
 * The head that looks most at one place, and what that is: "same", "mirrored", "right" where it is on no line, or "other".
 * @param {{ layer: number, head: number, right: number, same: number, mirrored: number }[]} heads
 */
export function guessed(heads) {
  const most = ({ right, same, mirrored }) => Math.max(right, same, mirrored),
    head = heads.reduce((best, one) => (most(one) > most(best) ? one : best));
  const line = head.same > head.mirrored ? "same" : "mirrored";
  const answer = most(head) < SHOWS ? "other" : head[line] >= head.right - LITTLE ? line : "right";
  return { head, answer };
}
