// Masks as squares of cells: point at a row to read what it may see; one that is painted is changed by click and drag,
// and each stroke can be undone.
// data is UTF-8 JSON: {words, paint, plain: for a beginner, row, squares: [{kind, title, alt, rows, columns, row_special, column_special,
// axes: what rows and columns are, row_colors, column_colors: places on the palette of words, -1 for none, palette:
// [light, dark], cells: "0110...", own: the model's cells where they are painted, values: thousandths or none, sign,
// written: a text for each cell or none, stops: [light, dark], say: a sentence for each row, partners: the row here for
// each row of the decoder, -1 for none; empty where the rows are the decoder's}]}

import { across, css, inkOn, rampOn, strongOf, themeOf } from "../../browser/shared/colors.js";
import {
  BAND,
  BESIDE,
  bands,
  fillMasked,
  hatching,
  measured,
  pointOn,
  roomBelow,
  typeSize,
  widest,
} from "../../browser/shared/drawing.js";
import { clamp, filled, make, quoted } from "../../browser/shared/helpers.js";
import { weightSaid } from "../../browser/shared/percentages.js";
import { departure, fadeFrom, wayDone } from "../../browser/shared/motion.js";
import { component } from "../../browser/shared/ready.js";
import { listenForStrokes } from "../../browser/shared/strokes.js";
import { onLight, sayTouched } from "../../browser/shared/touched.js";

const GAP = 28, // pixels between squares
  LARGEST = 46, // pixels of a cell
  PAINTED = 34, // pixels of one that is painted: the result stands beside the square
  PHONE = 768, // pixels of a window, below which the page scrolls and cells are painted by finger
  PAINTED_LEAST = 18, // pixels of one where the window is low
  READABLE = 13, // pixels of a cell, from which squares stand beside each other
  NARROW = 560, // pixels, below which squares stand one under the other
  LETTER = 0.62, // of a size of type: how wide a letter is
  TILT = Math.PI / 3, // so that slanted labels stay apart above narrow columns
  CAPTION = 11; // pixels of the type that says what rows and columns are

/** The room around the cells that all squares share, how many stand in a line, and how large their cells are.
 *  The captions of the axes stand above the labels of the rows, left of those of the columns.
 *  most: the largest number of columns; label: the pixels of the widest labels of rows and columns, of those of the
 *  last columns, which reach over the right side, and of the captions. */
export function layout(width, count, most, label, scale = 1, largest = LARGEST) {
  const top = Math.max(Math.min(label.column, 120 * scale) * Math.sin(TILT) + 20 * scale, 3 * CAPTION * scale),
    overhang = Math.min(label.over, 120 * scale) * Math.cos(TILT);
  const of = (perLine) => {
    const room = (width - GAP * (perLine - 1)) / perLine,
      left = Math.max(Math.min(label.row, 0.34 * room), label.caption) + BESIDE + 3;
    return { perLine, left, top, cell: clamp((room - left - overhang) / most.columns, 1, largest * scale) };
  };
  if (width < NARROW) return of(1);
  for (let perLine = count; perLine > 1; perLine -= 1) {
    const found = of(perLine);
    if (found.cell >= READABLE) return found;
  }
  return of(count);
}

/** The size of a painted cell, so that all rows are on the screen where they can be: room: the pixels for them. */
export function lowered(cell, rows, room, scale = 1) {
  return Math.min(cell, Math.max(PAINTED_LEAST * scale, room / rows));
}

/** The order of squares: one under the other, those with a closed cell come first, as the others are of one colour. */
export function inOrder(squares, perLine) {
  const full = ({ cells }) => Number(perLine === 1 && cells.every(Boolean));
  return squares.toSorted((a, b) => full(a) - full(b));
}

/** Which labels are drawn so that none touches another: every so many, and always the chosen one. */
export function labelled(count, cell, size, chosen) {
  const step = Math.max(1, Math.ceil((1.15 * size) / cell));
  const near = (index) => chosen !== null && index !== chosen && Math.abs(index - chosen) < step;
  return Array.from({ length: count }, (_, index) => index).filter(
    (index) => index === chosen || (index % step === 0 && !near(index)),
  );
}

/** The size of type at which every text fits into a cell, or 0 where none that can be read does. */
export function fitting(cell, texts, scale = 1) {
  const longest = Math.max(...texts.map((text) => text.length));
  const size = Math.min(14 * scale, (cell - 4) / (LETTER * longest), cell - 6);
  return size >= 8 ? size : 0;
}

/** The cells with one set; null if its row would see nothing. */
export function painted(cells, columns, row, column, open) {
  const next = cells.slice();
  next[row * columns + column] = open;
  return next.slice(row * columns, (row + 1) * columns).some(Boolean) ? next : null;
}

/** The row of one square for a row of another: what each has as partners; null where no row belongs to it. */
export function partnerOf(partners, others, row) {
  const at = partners.length ? partners.indexOf(row) : (others[row] ?? -1);
  return at < 0 ? null : at;
}

const byFinger = () => matchMedia("(pointer: coarse)").matches;

class Square {
  /** @type {View} */
  view;
  kind = "";
  title = "";
  /** @type {string[]} */
  rows = [];
  /** @type {string[]} */
  columns = [];
  /** @type {[rows: string, columns: string]} what rows and columns are */
  axes = ["", ""];
  /** @type {number[]} */
  row_special = [];
  /** @type {number[]} */
  column_special = [];
  /** @type {number[]} */
  row_colors = [];
  /** @type {number[]} */
  column_colors = [];
  /** @type {[light: string[], dark: string[]]} */
  palette = [[], []];
  /** @type {string | null} */
  own = null;
  /** @type {number[] | null} */
  values = null;
  /** @type {string[] | null} */
  written = null;
  sign = "";
  exact = "";
  /** @type {[string[], string[]]} */
  stops;
  /** @type {string[]} */
  say = [];
  /** @type {number[]} */
  partners = [];
  /** @type {{ open: number, before: number[] } | null} what a stroke makes of cells, and how they were before it */
  stroke = null;
  /** @type {number | null} the row of another square that is pointed at */
  pointed = null;

  /** @type {ReturnType<typeof departure>} what was drawn here before */
  from = null;
  /** @type {HTMLElement | null} the colours of the scale */
  ramp_ = null;
  lit = { row: -1, column: -1 }; // of a word that a lesson names

  constructor(view, data, before = null) {
    Object.assign(this, data, { view });
    if (before?.kind === this.kind) this.from = departure(before.canvas);
    this.cells = Array.from(data.cells, Number);
    this.row = this.rowFor(view.row);
    this.hover = null; // {row, column} under the pointer or the keys' cursor
    this.node = make("figure", "square");
    this.title_ = make("figcaption", "title", data.title);
    if (data.values) this.title_.append(this.scaleOf());
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.said = make("p", "said");
    this.said.dir = "auto";
    this.node.append(this.title_, this.canvas, this.said);
    this.listen();
    this.tell();
  }

  /** What the colours of weights mean: from none to all of a row. */
  scaleOf() {
    const scale = make("span", "scale");
    this.ramp_ = make("i", "ramp");
    scale.append(make("span", "", "0%"), this.ramp_, make("span", "", "100%"));
    return scale;
  }

  /** The row here for the chosen one: that of the same word, else the one with its number. */
  rowFor(chosen) {
    return partnerOf([], this.partners, chosen) ?? Math.min(chosen, this.rows.length - 1);
  }

  get shown() {
    return this.hover?.row ?? this.pointed ?? this.row;
  }

  listen() {
    const { canvas, view } = this;
    const at = (event) => this.at(...pointOn(canvas, event));
    canvas.onpointermove = (event) => {
      const place = at(event);
      if (!this.stroke && event.pointerType !== "touch") view.point(this, place);
      const cursor = view.paint ? "cell" : "pointer";
      canvas.style.cursor =
        place || (!view.paint && this.labelAt(...pointOn(canvas, event)) !== null) ? cursor : "default";
    };
    // The sentence on the cell that a finger has painted stays: a finger that is lifted points at nothing.
    canvas.onpointerleave = (event) => {
      if (!this.stroke && !(view.paint && event.pointerType === "touch")) view.point(this, null);
    };
    if (view.paint)
      listenForStrokes(canvas, {
        begin: (event) => {
          const place = at(event);
          if (!place) return false;
          event.preventDefault();
          canvas.focus({ preventScroll: true });
          this.stroke = {
            open: this.cells[place.row * this.columns.length + place.column] ? 0 : 1,
            before: this.cells,
          };
          this.paint(place, this.stroke.open);
          return true;
        },
        move: (event) => this.paint(at(event), this.stroke.open),
        end: (kept) => {
          const { before } = this.stroke;
          this.stroke = null;
          if (kept) view.keep(this, before);
          else this.restore(before);
        },
      });
    canvas.onclick = (event) => {
      const place = at(event),
        row = place?.row ?? this.labelAt(...pointOn(canvas, event));
      if (row === null || view.paint) return;
      sayTouched(view.root, { kind: this.kind, row, ...place });
      view.choose(this, row);
      view.point(this, place);
    };
    canvas.onkeydown = (event) => this.key(event);
    canvas.onblur = () => view.point(this, null);
  }

  key(event) {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const from = this.hover ?? { row: this.row, column: 0 };
    this.said.setAttribute("aria-live", "polite");
    if (step)
      this.view.point(this, {
        row: clamp(from.row + step[0], 0, this.rows.length - 1),
        column: clamp(from.column + step[1], 0, this.columns.length - 1),
      });
    else if (event.key !== " " && event.key !== "Enter") return;
    else if (this.view.paint) {
      const before = this.cells;
      this.paint(from, before[from.row * this.columns.length + from.column] ? 0 : 1);
      this.view.keep(this, before);
    } else {
      sayTouched(this.view.root, { kind: this.kind, ...from });
      this.view.choose(this, from.row);
    }
    event.preventDefault();
  }

  paint(place, open) {
    if (!place) return;
    const next = painted(this.cells, this.columns.length, place.row, place.column, open);
    this.hover = place;
    if (next) this.cells = next;
    this.tell(next === null);
    this.draw();
  }

  /** The cells as they were before a stroke. */
  restore(cells) {
    this.cells = cells;
    this.hover = null;
    this.tell();
    this.draw();
  }

  /** The sentence below: on the cell under the pointer, else on the row. */
  tell(refused = false) {
    const { words, paint } = this.view,
      { hover } = this;
    let text = paint ? words[byFinger() ? "paint_touch" : "paint"] : this.say[this.shown];
    if (hover && (paint || this.values || this.sign)) {
      const index = hover.row * this.columns.length + hover.column,
        value = this.values?.[index];
      const name = refused ? "last" : !this.cells[index] ? "closed" : value === undefined ? "open" : "weight";
      const parts = {
        row: quoted(this.rows[hover.row]),
        column: quoted(this.columns[hover.column]),
        weight: value === undefined ? "" : weightSaid(this.view, value / 1000),
        sign: this.cells[index] ? (this.written?.[index] ?? "0") : this.exact,
      };
      text = filled(this.sign && !paint && name !== "weight" ? words[`${name}_added`] : words[name], parts);
    }
    this.said.textContent = text;
    this.canvas.setAttribute("aria-label", `${this.title}. ${text}`);
  }

  at(x, y) {
    const { left, top, cell } = this.view.place ?? {};
    const column = Math.floor((x - left) / cell),
      row = Math.floor((y - top) / cell);
    const inside = row >= 0 && column >= 0 && row < this.rows.length && column < this.columns.length;
    return inside ? { row, column } : null;
  }

  /** The row whose label is there, or null. */
  labelAt(x, y) {
    const { left, top, cell } = this.view.place ?? {};
    const row = Math.floor((y - top) / cell);
    return x < left && row >= 0 && row < this.rows.length ? row : null;
  }

  draw() {
    const { theme, place, hatch, scale } = this.view,
      { left, top, cell } = place,
      [rows, columns] = [this.rows.length, this.columns.length];
    this.canvas.style.height = `${Math.ceil(top + rows * cell + 3)}px`;
    const { context, width, height } = measured(this.canvas);
    context.clearRect(0, 0, width, height);
    const ramp = rampOn(theme, this.stops),
      full = strongOf(theme, ramp),
      gap = cell >= 8 ? 1 : 0;
    if (this.ramp_) this.ramp_.style.background = across(ramp);
    const texts = this.written ?? (this.sign ? [this.sign] : null);
    const size = texts ? fitting(cell, texts, scale) : 0;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let row = 0; row < rows; row += 1)
      for (let column = 0; column < columns; column += 1) {
        const index = row * columns + column,
          open = this.cells[index] === 1,
          [x, y] = [left + column * cell, top + row * cell];
        const value = this.values?.[index];
        const color = value === undefined ? full : css(ramp[Math.round((255 * value) / 1000)]);
        context.beginPath();
        context.rect(x, y, cell - gap, cell - gap);
        if (open) {
          context.fillStyle = color;
          context.fill();
        } else fillMasked(context, { masked: css(theme.masked) }, hatch);
        const ink = open ? inkOn(color.match(/\d+/g).map(Number)) : theme.ink;
        if (size) {
          context.fillStyle = ink;
          context.font = `${size}px ${theme.mono}`;
          context.fillText(open ? (this.written?.[index] ?? "0") : this.sign, x + cell / 2, y + cell / 2);
        }
        if (this.own && open !== (this.own[index] === "1")) {
          context.fillStyle = ink;
          context.beginPath();
          context.arc(x + (cell - gap) / 2, y + (cell - gap) / 2, Math.max(1, cell / 8), 0, 7);
          context.fill();
        }
      }
    this.frame(context);
    this.labels(context);
    this.colors(context);
    fadeFrom(context, this.from, width, height);
    if (wayDone(this.from) === 1) this.from = null;
    else requestAnimationFrame(() => this.draw());
  }

  frame(context) {
    const { theme, place, paint } = this.view,
      { left, top, cell } = place;
    context.strokeStyle = theme.ink;
    context.lineWidth = 2;
    if (!paint || this.hover) {
      const row = this.shown;
      context.strokeRect(left - 1, top + row * cell - 1, this.columns.length * cell + 1, cell + 1);
    }
    context.lineWidth = 3;
    if (this.lit.row >= 0)
      context.strokeRect(left - 1, top + this.lit.row * cell - 1, this.columns.length * cell + 1, cell + 1);
    if (this.lit.column >= 0)
      context.strokeRect(left + this.lit.column * cell - 1, top - 1, cell + 1, this.rows.length * cell + 1);
    if (!this.hover) return;
    context.strokeRect(left + this.hover.column * cell - 1, top + this.hover.row * cell - 1, cell + 1, cell + 1);
  }

  /** The colours of words between the labels and the cells. */
  colors(context) {
    const { theme, place } = this.view,
      { left, top, cell } = place,
      palette = this.palette[theme.dark ? 1 : 0];
    const draw = (places, from, beside, down) =>
      bands(
        context,
        places.map((at) => palette[at]),
        { range: [0, places.length], cell, down, bar: (a, b) => [from + a * cell, from + b * cell, beside] },
      );
    draw(this.row_colors, top, left - BAND - 3, true);
    draw(this.column_colors, left, top - BAND - 3, false);
  }

  labels(context) {
    const { theme, place, scale, paint } = this.view,
      { left, top, cell } = place,
      size = 13 * scale;
    const write = (label, special, chosen, room) => {
      context.font = `${chosen ? "bold " : ""}${special ? 0.85 * size : size}px ${theme.mono}`;
      context.fillStyle = chosen || !special ? theme.ink : theme.faint;
      context.fillText(this.view.short(context, label, room), 0, 0);
    };
    const chosen = paint && !this.hover ? null : this.shown;
    context.textBaseline = "middle";
    context.textAlign = "right";
    context.font = `${CAPTION * scale}px ${theme.font}`;
    context.fillStyle = theme.faint;
    for (const [line, text] of this.axes.entries())
      context.fillText(text, left - BESIDE - 1, top - (0.9 + 1.25 * line) * CAPTION * scale);
    for (const row of labelled(this.rows.length, cell, size, chosen)) {
      context.save();
      context.translate(left - BESIDE - 1, top + (row + 0.5) * cell);
      write(this.rows[row], this.row_special.includes(row), row === chosen, left - BESIDE - 3);
      context.restore();
    }
    context.textAlign = "left";
    for (const column of labelled(this.columns.length, cell, size, this.hover?.column ?? null)) {
      context.save();
      context.translate(left + (column + 0.5) * cell, top - BESIDE - 1);
      context.rotate(-TILT);
      write(this.columns[column], this.column_special.includes(column), column === this.hover?.column, 120 * scale);
      context.restore();
    }
  }
}

class View {
  /** @type {Record<string, string>} */
  words = {};
  paint = false;
  plain = false;
  row = 0;
  text = "";
  scale = 1;
  /** @type {ReturnType<typeof layout> | undefined} */
  place;
  /** @type {ReturnType<typeof themeOf> | undefined} */
  theme;
  /** @type {CanvasPattern | null} */
  hatch = null;
  /** @type {((name: string, value: unknown) => void) | undefined} what tells Python */
  said;

  constructor(root) {
    this.root = root;
    this.line = root.querySelector(".line");
    this.squares = [];
    /** @type {{ square: Square, cells: number[] }[]} the cells before each stroke, the last one at the end */
    this.strokes = [];
    this.undoing = root.querySelector(".undo");
    this.undoing.onclick = () => this.undo();
    root.onkeydown = (event) => {
      if (!this.paint || event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      this.undo();
    };
    this.observer = new ResizeObserver(() => this.size());
    this.observer.observe(root);
    document.fonts?.ready.then(() => this.size());
    this.unlight = onLight((label) => this.light(label));
  }

  /** The rows and columns of a word that a lesson names; null for none. */
  light(label) {
    for (const square of this.squares)
      square.lit = { row: square.rows.indexOf(label), column: square.columns.indexOf(label) };
    this.draw();
  }

  take(data) {
    const { words, paint, plain, row, squares } = data;
    Object.assign(this, { words, paint, plain, row });
    this.root.classList.toggle("paint", paint);
    this.strokes = [];
    this.undoing.textContent = words.undo;
    this.undoing.title = words.undo_title;
    this.undoing.hidden = !paint;
    this.undoing.disabled = true;
    const before = paint ? [] : this.squares;
    this.squares = squares.map((square, at) => new Square(this, square, before[at]));
    this.arrange(this.place?.perLine);
  }

  /** The squares in the page, in the order of this many in a line. */
  arrange(perLine) {
    this.line.replaceChildren(...inOrder(this.squares, perLine).map((square) => square.node));
  }

  size() {
    const { width } = this.root.getBoundingClientRect();
    if (!width || !this.squares.length) return;
    this.theme = themeOf(this.root);
    this.scale = typeSize(this.root);
    const context = this.squares[0].canvas.getContext("2d");
    context.font = `${CAPTION * this.scale}px ${this.theme.font}`;
    const caption = widest(
      context,
      this.squares.flatMap(({ axes }) => axes),
    );
    context.font = `${13 * this.scale}px ${this.theme.mono}`;
    this.hatch = hatching(context, this.theme.hatch);
    const all = (name) => this.squares.map((square) => square[name]);
    const before = this.place?.perLine;
    this.place = layout(
      width / (this.root.currentCSSZoom ?? 1),
      this.squares.length,
      { columns: Math.max(...all("columns").map(({ length }) => length)) },
      {
        row: widest(context, all("rows").flat()),
        column: widest(context, all("columns").flat()),
        over: widest(
          context,
          all("columns").flatMap((columns) => columns.slice(-2)),
        ),
        caption,
      },
      this.scale,
      this.paint ? PAINTED : LARGEST,
    );
    if (this.paint && innerWidth >= PHONE) {
      const { canvas, rows } = this.squares[0],
        room = roomBelow(canvas) / (this.root.currentCSSZoom ?? 1) - this.place.top - BESIDE;
      this.place.cell = lowered(this.place.cell, rows.length, room, this.scale);
    }
    this.line.style.setProperty("--per-line", this.place.perLine);
    if (this.place.perLine !== before) this.arrange(this.place.perLine);
    this.draw();
  }

  draw() {
    if (this.place) for (const square of this.squares) square.draw();
  }

  short(context, label, room) {
    if (context.measureText(label).width <= room) return label;
    const signs = Array.from(label);
    while (signs.length > 1 && context.measureText(`${signs.join("")}…`).width > room) signs.pop();
    return `${signs.join("")}…`;
  }

  /** The squares whose rows are those of this one: decoder and cross-attention. */
  alike(square) {
    return this.squares.filter((other) => String(other.rows) === String(square.rows));
  }

  point(square, place) {
    const alike = this.alike(square);
    for (const other of this.squares)
      if (!alike.includes(other)) other.pointed = place && partnerOf(square.partners, other.partners, place.row);
    for (const other of alike) {
      other.hover = place && { row: place.row, column: Math.min(place.column, other.columns.length - 1) };
      if (place && other !== square) other.hover = null;
      other.pointed = place?.row ?? null;
    }
    for (const other of this.squares) other.tell();
    this.draw();
  }

  choose(square, row) {
    const chosen = square.partners.length ? partnerOf(square.partners, [], row) : row;
    square.row = row;
    if (chosen !== null) {
      for (const other of this.squares) if (other !== square) other.row = other.rowFor(chosen);
      this.row = chosen;
      this.said?.("row", chosen);
    }
    for (const other of this.squares) other.tell();
    this.draw();
  }

  /** A stroke of a square has ended: Python gets the cells, and the stroke can be undone. */
  keep(square, before) {
    if (String(before) === String(square.cells)) return;
    this.strokes.push({ square, cells: before });
    this.undoing.disabled = false;
    this.send(square);
  }

  undo() {
    const stroke = this.strokes.pop();
    if (!stroke) return;
    const { square, cells } = stroke;
    square.restore(cells);
    this.undoing.disabled = !this.strokes.length;
    if (this.undoing.disabled) square.canvas.focus({ preventScroll: true }); // a disabled button keeps no focus
    this.send(square);
  }

  send(square) {
    this.said?.("cells", square.cells.join(""));
  }

  end() {
    this.observer.disconnect();
    this.unlight();
  }
}

export default component(".squares", View, (view, { data, setStateValue }) => {
  view.said = setStateValue;
  const text = new TextDecoder().decode(data);
  if (view.text !== text) view.take(JSON.parse(text));
  view.text = text;
  view.size();
});
