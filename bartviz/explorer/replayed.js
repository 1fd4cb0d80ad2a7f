// The page of a training in one file: the replay's picture, with the words of the reader's language.

/** @import { Mount } from "./types.js" */
import { described } from "../browser/replay/moments.js";
import { make } from "../browser/shared/helpers.js";
import { opened } from "./file.js";
import { spokenIn } from "./url_hash.js";

const TEXTS = ["brand", "title", "lead", "unfinished", "source"];

/** @param {{ replay: Mount }} mounts */
export default async function start({ replay }) {
  const { header, part } = await opened(document.getElementById("data").textContent);
  const { languages, pages } = /** @type {any} */ (header);
  const bytes = await part([0, /** @type {any} */ (header).length]);
  const root = document.documentElement,
    find = (name) => /** @type {HTMLElement} */ (document.querySelector(`[data-is="${name}"]`)),
    host = find("replay").attachShadow({ mode: "open" }),
    scheme = matchMedia("(prefers-color-scheme: dark)"),
    language = /** @type {HTMLSelectElement} */ (find("language")),
    dark = find("dark");
  let data = null;

  host.append(/** @type {HTMLTemplateElement} */ (document.getElementById("replay")).content.cloneNode(true));
  for (const [code, name] of Object.entries(languages))
    language.append(Object.assign(make("option", "", name), { value: code }));
  language.value = spokenIn(header, navigator.languages);

  const isDark = () => (root.dataset.theme ?? (scheme.matches ? "dark" : "light")) === "dark";
  const draw = () => {
    dark.setAttribute("aria-pressed", String(isDark()));
    replay({ parentElement: host, data, setStateValue: () => {}, setTriggerValue: () => {} });
  };
  const speak = () => {
    const page = pages[language.value];
    for (const name of TEXTS) {
      find(name).textContent = page[name];
      find(name).hidden = !page[name];
    }
    root.lang = language.value;
    document.title = page.title;
    language.setAttribute("aria-label", page.language);
    dark.setAttribute("aria-label", page.dark);
    data = described(bytes, page.replay);
    draw();
  };

  language.onchange = speak;
  dark.onclick = () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    draw();
  };
  scheme.onchange = draw;
  speak();
  root.dataset.ready = "yes";
}
