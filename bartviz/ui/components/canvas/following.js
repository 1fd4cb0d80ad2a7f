// The step that a player beside the canvas shows: its row is the canvas's row, and the rows after it are still to come.

const ASKS = { ",": { by: -1 }, ".": { by: 1 }, p: { play: true } };
const UNCOVER = 320; // ms in which a new row is uncovered
const TO_COME = 0.86; // how thick the veil over later rows is

const askSteps = (it, asked) => tellSteps("ask", { record: it.meta.steps.record, ...asked });

/** Hears the player from now on; gives what ends it. */
function follow(it) {
  return hearSteps("at", () => it.meta.steps?.record, (at) => onStep(it, at));
}

export function onStep(it, at) {
  const before = it.at, row = it.meta.steps.rows[at.step];
  it.at = at;
  showStepper(it);
  const known = before ? before.step === at.step && it.rows.includes(row) : it.rows.length > 1; // several: chosen, or of a link
  if (row === undefined || known) return;
  it.grew = before && at.step === before.step + 1 && !calm() ? performance.now() : null;
  Object.assign(it, { rows: [row], primary: row, by: "rows" });
  it.anchor.rows = row;
  if (it.cursor && it.cursor.row !== null) it.cursor = { ...it.cursor, row };
  draw(it);
}

function showStepper(it) {
  const { at } = it, { $ } = it;
  $("stepper").hidden = !it.meta.steps || !at;
  if ($("stepper").hidden) return;
  $("step-count").textContent = `${at.step + 1} / ${at.count}`;
  $("step-play").classList.toggle("playing", at.playing);
  $("step-play").setAttribute("aria-label", it.say(at.playing ? "pause" : "play"));
  $("step-back").disabled = at.step === 0;
  $("step-next").disabled = at.step === at.count - 1;
}

/** The last row that is there, of `count`; all of them where no player is followed. */
const lastRow = (it, count) => (it.meta.steps && it.at ? it.meta.steps.rows[it.at.step] ?? count - 1 : count - 1);

/** How much of the last row is uncovered, 0 to 1. */
const uncovered = (it) => (it.grew == null ? 1 : clamp((performance.now() - it.grew) / UNCOVER, 0, 1));

/** Veils the rows to come of a map in a box of `high` pixels a row, and what is still covered of the last one. */
function veil(it, context, { left, top, wide, high, rows }) {
  const last = lastRow(it, rows), shown = uncovered(it);
  if (last >= rows - 1 && shown === 1) return;
  context.globalAlpha = TO_COME;
  context.fillStyle = it.colors.ground;
  context.fillRect(left, top + (last + 1) * high, wide, (rows - last - 1) * high);
  if (shown < 1) context.fillRect(left + wide * shown, top + last * high, wide * (1 - shown), high);
  context.globalAlpha = 1;
}
