// What is under the pointer or the cursor, in words; and the tip at the pointer.

/** The sentence of what is under the pointer or the cursor, else of the selection; and the tip at the pointer. */
function say(it) {
  const { meta } = it, name = nameOf(meta, it.choice), weight = weightOf(it);
  it.$("name").textContent = name[0].toUpperCase() + name.slice(1);
  it.root.setAttribute("aria-label", meta.alone ? `${meta.label ? `${meta.label}: ` : ""}attention of ${name}` : "Attention: every head small, one of them large");
  it.$("overview").setAttribute("aria-label", `All heads, small. Chosen: ${name}. Arrow keys choose another, Enter goes to the large map.`);
  it.$("plot").setAttribute("aria-label", `${meta.label ? `${meta.label}: ` : ""}${name}: ${meta.query.length} rows attend to ${meta.key.length} columns. Arrow keys move, Enter chooses a row, space a column.`);
  it.said = weight ? sentence(it, weight) : `${name}: the exact numbers are on their way.`;
  it.$("said").textContent = it.said;
  const tip = it.$("tip"), at = it.hover;
  tip.hidden = !at || at.x === undefined || at.row === null || at.column === null;
  if (tip.hidden) return;
  const value = !weight ? "…" : masked(it, at.row, at.column) ? "masked" : weight(at.row, at.column).toFixed(3);
  it.$("tip-value").textContent = value;
  it.$("tip-said").textContent = `${meta.query[at.row]} → ${meta.key[at.column]}`;
  const right = at.x > it.plot.width * 0.6;
  tip.style.transform = `translate(${Math.round(at.x + (right ? -14 : 14))}px, ${Math.round(at.y + 14)}px)${right ? " translateX(-100%)" : ""}`;
}

const masked = (it, row, column) => Boolean(it.open && !it.open[row * it.meta.key.length + column]);
const maskedWholly = (it, row) => Boolean(it.open) && !it.open.subarray(row * it.meta.key.length, (row + 1) * it.meta.key.length).some(Boolean);

function sentence(it, weight) {
  const { meta } = it, at = it.hover ?? it.cursor;
  if (at && at.row !== null && at.column !== null) return `${nameOf(meta, it.choice)}. ${cellSaid(meta, at.row, at.column, weight(at.row, at.column), masked(it, at.row, at.column))}`;
  const { rows, keys } = spoken(it);
  const said = rowsSaid(meta, rows, ofRows(weight, meta.key.length, rows), (row) => maskedWholly(it, row));
  const less = it.choice.view === "lines" && it.leftOut > FAINTEST ? ` Only the ${MOST_LINES} strongest lines are drawn.` : "";
  if (!keys.length) return said + less;
  const columns = keysSaid(meta, rows, keys, ofKeys(weight, meta.query.length, keys));
  return (at?.column != null || it.by === "keys" ? columns : `${said} ${columns}`) + less;
}

/** What a key has done is read aloud; what the pointer does is not. */
export function announce(it) {
  it.frame && cancelAnimationFrame(it.frame);
  it.frame = 0;
  render(it);
  it.$("live").textContent = it.said;
}
