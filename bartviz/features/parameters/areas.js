// The areas of the map in words: the path to the open one, or a table of parts. Each name is a button that opens its area,
// for those who do not touch the map. Text reaches the page only through textContent. data is UTF-8 JSON: {label, path: [{id, text}],
// head: [text], rows: [{id, cells: [text], current, sum}]}; a name without an id is no button.

import { make } from "../../browser/shared/helpers.js";
import { component } from "../../browser/shared/ready.js";

class View {
  constructor(root) {
    this.root = root;
    this.open = undefined; // what tells Python which area to open
  }

  draw({ label, path, head, rows }) {
    const active = this.root.getRootNode().activeElement;
    const held = this.root.contains(active) ? active.dataset.id : undefined;
    this.root.replaceChildren(path.length ? this.path(label, path) : this.table(label, head, rows));
    if (held === undefined) return;
    const buttons = [...this.root.querySelectorAll("button")];
    (buttons.find((button) => button.dataset.id === held) ?? buttons[0])?.focus();
  }

  path(label, path) {
    const nav = make("nav");
    nav.setAttribute("aria-label", label);
    const last = path.length - 1;
    nav.append(...path.map(({ id, text }, at) => this.name(text, at < last ? id : null, at === last)));
    return nav;
  }

  table(label, head, rows) {
    const table = make("table"),
      top = table.createTHead().insertRow(),
      body = table.createTBody();
    table.setAttribute("aria-label", label);
    for (const text of head) top.append(Object.assign(make("th", "", text), { scope: "col" }));
    for (const { id, cells, current, sum } of rows) {
      const line = body.insertRow();
      if (sum) line.dataset.sum = "";
      const name = Object.assign(make("th"), { scope: "row" });
      name.append(this.name(cells[0], id, current));
      line.append(name, ...cells.slice(1).map((text) => make("td", "", text)));
    }
    return table;
  }

  name(text, id, current) {
    const whole = make("span"),
      name = make(id ? "button" : "span", "", text);
    if (id) {
      name.dataset.id = id;
      name.onclick = () => this.open?.(id);
    }
    if (current) name.setAttribute("aria-current", "true");
    whole.append(name);
    return whole;
  }

  end() {}
}

export default component(".areas", View, (view, { data, setTriggerValue }) => {
  view.open = (id) => setTriggerValue("touched", id);
  view.draw(JSON.parse(new TextDecoder().decode(data)));
});
