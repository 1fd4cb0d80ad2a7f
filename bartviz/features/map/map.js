// The model from text to word: a column for each stack and one for what comes out, a box for each part. Text reaches
// the page only through textContent. data is UTF-8 JSON: {columns: [{stack, title, layers, repeated, before: [box],
// layer: [[box]], after: [box]}], bridge, out, label}; a box: {number, text, kind, gives, opens, shape, tokens, written,
// maps: {shape: [L, h, w], cells, names}, bars}; written: how many of the tokens are there at the step shown, null for all

import { roomBelow, typeSize } from "../../browser/shared/drawing.js";
import { clamp, make } from "../../browser/shared/helpers.js";
import { component } from "../../browser/shared/ready.js";

const MASKED = 250,
  ONE = 240; // the bytes of a masked cell and of a weight of 1
const MOST_BEHIND = 11; // layers whose edges are drawn behind the first
const ENDS = ["scores", "word", "gaps", "pair"]; // what boxes of the last column give
const ONE_LINE = 8; // small maps beside each other, at most
const AIR = 8; // pixels below the map
const BACK = 10; // pixels between the last column and the line that leads back
const BELOW = 20; // pixels between the end of a layer and the line that leaves it
const GROWS = 260; // milliseconds in which a box grows into its page

/** The colours of one small map, (h, w) RGBA: from nothing to the colour, by the root of the weight, so that one of a
    quarter is half as strong as one of 1; masked cells are a thin grey. */
export function pixels(cells, [red, green, blue]) {
  const out = new Uint8ClampedArray(4 * cells.length);
  cells.forEach((cell, i) =>
    out.set(cell === MASKED ? [128, 128, 128, 60] : [red, green, blue, Math.round(255 * Math.sqrt(cell / ONE))], 4 * i),
  );
  return out;
}

/** The box that an arrow key leads to from the box at `at` of `count`; undefined for other keys. */
export function next(key, at, count) {
  const steps = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: count - 1 };
  return key in steps ? Math.min(Math.max(steps[key], 0), count - 1) : undefined;
}

/** The bytes of a colour of the style, however it is written. */
function bytesOf(color) {
  const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
  context.fillStyle = color;
  context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data];
}

/** The line from the right side of a box to the left side of another, and its tip. */
export function connection(from, to) {
  const x = from.x + from.width,
    y = from.y + from.height / 2,
    end = to.y + to.height / 2,
    middle = (x + to.x) / 2;
  return {
    line: `M${x},${y} C${middle},${y} ${middle},${end} ${to.x - 2},${end}`,
    tip: `M${to.x - 11},${end - 6} L${to.x - 2},${end} L${to.x - 11},${end + 6}`,
  };
}

/** The line from the right side of a box, up beside what stands above it, to the right side of another one that is
 *  further left, and its tip. */
export function wayBack(from, to) {
  const x = from.x + from.width,
    end = to.x + to.width,
    y = to.y + to.height / 2;
  return {
    line: `M${x},${from.y + from.height / 2} h${BACK} V${y} H${end + 3}`,
    tip: `M${end + 12},${y - 6} L${end + 3},${y} L${end + 12},${y + 6}`,
  };
}

class View {
  constructor(root) {
    this.root = root;
    this.columns = root.querySelector(".columns");
    this.observer = new ResizeObserver(() => this.fit());
    for (const part of [root, document.documentElement]) this.observer.observe(part);
    this.open = undefined; // what tells Python which box was pressed
    this.columns.onkeydown = (event) => this.step(event);
  }

  draw(data) {
    this.root.setAttribute("aria-label", data.label);
    this.columns.replaceChildren(...data.columns.map((column) => this.column(column)));
    const ends = data.columns.at(-1).after.filter(({ gives }) => ENDS.includes(gives));
    if (ends.length) this.columns.append(this.out(data.out, data.columns.at(-1).stack, ends));
    this.root.querySelectorAll("button.box").forEach((box, at) => (box.tabIndex = at ? -1 : 0)); // one stop of Tab
    if (data.bridge) this.columns.firstElementChild.append(make("p", "said", data.bridge));
    this.fit();
  }

  /** In large type the whole model is seen on one screen, in letters that are never smaller than usual. */
  fit() {
    const { style } = this.columns,
      size = typeSize(this.root);
    style.zoom = "";
    const whole = this.columns.getBoundingClientRect();
    const beside = getComputedStyle(this.columns).flexDirection === "row"; // else the page scrolls
    if (beside) style.zoom = String(clamp((roomBelow(this.columns) - AIR) / whole.height, 1 / Math.max(size, 1), 1));
    this.bridge();
  }

  /** An arrow key leads to the next box. */
  step(event) {
    const boxes = [...this.root.querySelectorAll("button.box")];
    const from = boxes.indexOf(event.target);
    const to = from < 0 ? undefined : next(event.key, from, boxes.length);
    if (to === undefined) return;
    event.preventDefault();
    boxes.forEach((box, at) => (box.tabIndex = at === to ? 0 : -1));
    boxes[to].focus();
  }

  column({ stack, title, layers, repeated, before, layer, after }) {
    const column = make("div", "column");
    column.dataset.stack = stack;
    const whole = make("div", "layer");
    const behind = Math.min(layers - 1, MOST_BEHIND);
    whole.style.setProperty("--behind", behind);
    for (let at = 1; at <= behind; at += 1) {
      const edge = make("span", "behind");
      edge.style.setProperty("--at", at);
      whole.append(edge);
    }
    whole.append(make("p", "repeated", repeated));
    whole.append(
      ...layer.map((group) => {
        const sum = make("div", "sum");
        sum.append(...group.map((box) => this.box(box)));
        return sum;
      }),
    );
    column.append(make("h3", "title", title), ...before.map((box) => this.box(box)), whole);
    column.append(...after.filter(({ gives }) => !ENDS.includes(gives)).map((box) => this.box(box)));
    return column;
  }

  /** The column of what comes out of the last stack. */
  out(title, stack, boxes) {
    const column = make("div", "column ends");
    column.dataset.stack = stack;
    column.append(make("h3", "title", title), ...boxes.map((box) => this.box(box)));
    return column;
  }

  box({ number, text, kind, gives, opens, shape, tokens, written, maps, bars }) {
    const box = make(opens ? "button" : "div", "box");
    Object.assign(box.dataset, { kind, gives, number });
    const head = make("span", "head");
    head.append(make("span", "name", text), make("span", "shape", shape));
    box.append(head);
    if (tokens.length) {
      const line = make("span", "tokens");
      line.dir = "auto";
      const there = written ?? tokens.length;
      line.append(...tokens.map((token, at) => make("span", at < there ? "token" : "token later", token)));
      box.append(line);
    }
    if (maps) box.append(this.maps(maps));
    if (bars.length) box.append(this.bars(bars));
    if (opens) {
      box.type = "button";
      box.onclick = () => this.grow(box, number);
    }
    return box;
  }

  maps({ shape: [layers, height, width], cells, names }) {
    const line = make("span", "maps");
    line.style.setProperty("--count", layers > ONE_LINE ? Math.ceil(layers / 2) : layers);
    line.style.setProperty("--ratio", `${width} / ${height}`);
    const bytes = Uint8Array.from(cells);
    for (let layer = 0; layer < layers; layer += 1) {
      const canvas = Object.assign(document.createElement("canvas"), { width, height });
      canvas.dataset.layer = String(layer);
      const one = make("span", "map");
      one.append(canvas, make("span", "layer-name", names[layer]));
      line.append(one);
    }
    this.paint ??= [];
    this.paint.push({ line, bytes, width, height });
    return line;
  }

  /** Fill the small maps: the colour of their kind is known only when they stand in the page. */
  fill() {
    for (const { line, bytes, width, height } of this.paint ?? []) {
      const [red, green, blue] = bytesOf(getComputedStyle(line).color);
      line.querySelectorAll("canvas").forEach((canvas, layer) => {
        const cells = bytes.subarray(layer * width * height, (layer + 1) * width * height);
        canvas.getContext("2d").putImageData(new ImageData(pixels(cells, [red, green, blue]), width, height), 0, 0);
      });
    }
    this.paint = [];
  }

  bars(bars) {
    const table = make("span", "bars");
    for (const [label, probability, percent] of bars) {
      const bar = make("span", "bar");
      bar.style.width = `${100 * probability}%`;
      table.append(make("span", "token", label), make("span", "percent", percent), bar);
    }
    return table;
  }

  bridge() {
    this.fill();
    const base = this.root.getBoundingClientRect();
    const place = (element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return { x: x - base.x, y: y - base.y, width, height };
    };
    const [first, second] = this.columns.querySelectorAll(".column:not(.ends)"),
      read = second && first.querySelector(":scope > .box:last-of-type"),
      cross = second?.querySelector("[data-kind='cross']"),
      end = this.columns.querySelector(".ends > .box");
    this.connect("across", read && place(read), cross && place(cross));
    const to = end && place(end),
      stack = second ?? first,
      last = stack.lastElementChild;
    // beside the last sum
    const ofLayers = ({ y, height }) => ({ ...place(stack), y: y + height - 2 * BELOW, height: 2 * BELOW });
    const from = to && (last.matches(".box") ? place(last) : ofLayers(place(last)));
    this.connect("out", from, to);
    const word = this.columns.querySelector(".ends > [data-gives='word']"),
      soFar = stack.querySelector("[data-gives='tokens']"),
      above = word && soFar && place(word.parentElement).y > place(soFar).y + place(soFar).height;
    this.connect("back", above && place(word), above && place(soFar), wayBack);
  }

  /** Draw the connection of this name between two places, or none. */
  connect(name, from, to, drawn = connection) {
    const { line, tip } = from && to ? drawn(from, to) : { line: "", tip: "" };
    this.root.querySelector(`.line.${name}`).setAttribute("d", line);
    this.root.querySelector(`.tip.${name}`).setAttribute("d", tip);
  }

  /** The box grows to the size of the page, and its page opens. */
  grow(box, number) {
    const { x, y, width, height } = box.getBoundingClientRect();
    const frame = make("div", "grows");
    frame.style.cssText = `left:${x}px;top:${y}px;width:${width}px;height:${height}px`;
    frame.style.setProperty("--own", getComputedStyle(box).borderLeftColor);
    this.root.append(frame);
    requestAnimationFrame(() => {
      const page =
        document.querySelector("[data-testid='stMain']")?.getBoundingClientRect() ??
        document.body.getBoundingClientRect();
      frame.style.cssText = `left:${page.x}px;top:${page.y}px;width:${page.width}px;height:${page.height}px`;
    });
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    setTimeout(
      () => {
        this.open?.(number);
        setTimeout(() => frame.remove(), 2000); // where the page does not change
      },
      still ? 0 : GROWS,
    );
  }

  end() {
    this.observer.disconnect();
  }
}

export default component(".model", View, (view, { data, setTriggerValue }) => {
  view.open = (number) => setTriggerValue("open", number);
  view.draw(JSON.parse(new TextDecoder().decode(data)));
});
