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

/**
 * The row whose word is right though every head looks most at another place than that which the word comes from, with the
 * column that is looked at and its share: of several the one with the largest; null where there is none.
 * @param {{ columns: number, written: string[], answer: string[], places: number[], maps: ArrayLike<number>[] }} of
 * maps: the weights of each head, rows by columns
 */
export function elsewhere({ columns, written, answer, places, maps }) {
  let found = /** @type {{ row: number, column: number, share: number } | null} */ (null);
  places.forEach((place, row) => {
    if (written[row] !== answer[row]) return;
    const tops = maps.map((weights) => {
      const shares = Array.from({ length: columns }, (_, column) => weights[row * columns + column]),
        share = Math.max(...shares);
      return { row, column: shares.indexOf(share), share };
    });
    if (tops.some(({ column }) => column === place)) return;
    const best = tops.reduce((one, other) => (other.share > one.share ? other : one));
    if (best.share > (found?.share ?? 0)) found = best;
  });
  return found;
}
