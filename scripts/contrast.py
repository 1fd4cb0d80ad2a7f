"""``python -m scripts.contrast``: what on each page has too little contrast to be read or seen, in light and dark.

Text needs 4.5:1 against what is behind it, large text 3:1 (WCAG 2, 1.4.3); frames, bars, lines, handles and the ring of
the focus need 3:1 (1.4.11). Colours are the computed ones, through every opacity; in canvases those that are drawn
with. ``DECORATION`` names what may be fainter, with the reason; tests hold the rest to it
(``tests/browser/test_contrast.py``).
"""

from __future__ import annotations

import argparse
import json
from typing import TypedDict

from playwright.sync_api import BrowserContext, Page, sync_playwright

from bartviz.app.frame.page_list import PAGES
from scripts.serving import CHROMIUM, QUIET, served
from scripts.settled import settle

SIZE = (1366, 768)
TEXT, LARGE, GRAPHICS = 4.5, 3.0, 3.0  # the least contrast
PATIENCE = 180_000  # milliseconds: a page may compute what it shows
# What says nothing that is not said beside it -> why it may be fainter.
DECORATION = {
    ":disabled, [aria-disabled=true], :disabled *, [aria-disabled=true] *": "cannot be used now",
    "[data-testid=stExpander] *, [data-testid=stPopoverBody], [role=dialog], section": "a card: its words say what",
    "[data-testid=stDataFrame], [data-testid=stDataFrame] *, table:not(.bv-grid) *": "rules of a table",
    "input[type=range]": "drawn by the browser, in the theme's primary colour",
    "[data-testid=stCode] *, pre, [data-testid=stAlert] *": "a box around text",
    ".gridlayer *, .zerolinelayer *, .bglayer *, .layer-below *, .legend .bg": "behind a chart",
    ".js-fill": "an area at a line, which is drawn",
    ".draglayer *, .hoverlayer *, .modebar *": "not drawn before it is pointed at",
}


class Finding(TypedDict):
    """What was found with too little contrast: once for each kind of element."""

    what: str  # text, frame, mark, canvas or focus
    where: str  # the element and its classes
    ratio: float  # the least of them
    least: float  # what it should be
    example: str
    count: int


# Notes what canvases draw text, lines and frames with: before any script of the page runs.
RECORDED = """() => {
    const pens = CanvasRenderingContext2D.prototype, drawn = new WeakMap();
    window.drawnOn = (canvas) => drawn.get(canvas) ?? new Map();
    const notes = (canvas) => drawn.get(canvas) ?? drawn.set(canvas, new Map()).get(canvas);
    const note = (pen, what, style, text, ground) => {
        if (typeof style !== "string") return merge(pen.canvas, style);
        const key = [what, style, pen.globalAlpha, ground].join();
        if (!notes(pen.canvas).has(key))
            notes(pen.canvas).set(key, { what, style, alpha: pen.globalAlpha, text, ground });
    };
    const merge = (canvas, source) => drawnOn(source).forEach((one, key) => notes(canvas).set(key, one));
    const wrap = (name, before) => {
        const plain = pens[name];
        pens[name] = function (...given) { before(this, given); return plain.apply(this, given); };
    };
    const read = pens.getImageData;
    wrap("clearRect", (pen, [x, y, wide, high]) => {
        const { a, d } = pen.getTransform();
        if (wide * a >= pen.canvas.width - 1 && high * d >= pen.canvas.height - 1) drawn.delete(pen.canvas);
    });
    wrap("stroke", (pen) => note(pen, "line", pen.strokeStyle, ""));
    wrap("strokeRect", (pen) => note(pen, "frame", pen.strokeStyle, ""));
    wrap("fill", (pen) => typeof pen.fillStyle === "string" || merge(pen.canvas, pen.fillStyle));
    wrap("drawImage", (pen, [source]) => source instanceof HTMLCanvasElement && merge(pen.canvas, source));
    wrap("fillText", (pen, [text, x, y]) => {
        const at = pen.getTransform().transformPoint({ x, y });
        const [red, green, blue, alpha] = read.call(pen, Math.round(at.x), Math.round(at.y), 1, 1).data;
        note(pen, "text", pen.fillStyle, text, alpha ? `rgb(${red} ${green} ${blue} / ${alpha / 255})` : "");
    });
    const tile = pens.createPattern;
    pens.createPattern = function (source, how) {
        const made = tile.call(this, source, how);
        if (source instanceof HTMLCanvasElement) drawn.set(made, drawnOn(source));
        return made;
    };
}"""

MEASURED = """async ({ TEXT, LARGE, GRAPHICS, decoration }) => {
    const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true }), known = new Map();
    const parsed = (color) => {
        if (!known.has(color)) {
            pen.clearRect(0, 0, 1, 1);
            pen.fillStyle = color;
            pen.fillRect(0, 0, 1, 1);
            const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
            known.set(color, [r, g, b, a / 255]);
        }
        return known.get(color);
    };
    const mix = (under, over, share) => under.map((value, i) => value + (over[i] - value) * share);
    const over = (under, [r, g, b, a]) => mix(under, [r, g, b], a);
    const luminance = (color) => {
        const [r, g, b] = color.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ratio = (one, other) => {
        const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
        return (light + 0.05) / (dark + 0.05);
    };
    const parent = (one) => one.assignedSlot ?? one.parentElement ?? one.getRootNode().host ?? null;
    const chain = (one) => {
        const found = [];
        for (let at = one; at; at = parent(at)) found.unshift(getComputedStyle(at));
        return found;
    };
    /* A colour (r, g, b, a) on an element as it is seen, and what is behind it; `on`: something opaque of its own. */
    const seen = (one, color, on) => {
        const styles = chain(one);
        const deeper = (i, under) => {
            if (i === styles.length) {
                const ground = on ? over(under, on) : under;
                return [over(ground, color), ground];
            }
            const inside = deeper(i + 1, over(under, parsed(styles[i].backgroundColor)));
            return inside.map((value) => mix(under, value, Number(styles[i].opacity)));
        };
        return deeper(0, [255, 255, 255]);
    };
    const behind = (one) => seen(one, [0, 0, 0, 0])[1];  // with its own background
    const decorated = (one) => decoration.some((selector) => one.matches(selector));
    const found = new Map();
    const name = (one) => {
        const host = one.getRootNode().host, root = host ? one.getRootNode().querySelector("[class]") : null;
        const made = /^(st-)?emotion|^e[0-9a-z]{6,}|^st-[a-z0-9]{2}$/;  // Streamlit's classes, which have no meaning
        const own = (at) => [at.localName, ...[...at.classList].filter((each) => !made.test(each))].join(".");
        const test = one.closest("[data-testid]")?.dataset.testid;
        const key = one.closest("[class*='st-key-']")?.className.match(/st-key-(\\w+)/)?.[1];
        const around = root && root !== one ? own(root) : test ?? key;
        return [around, own(one.parentElement ?? one), own(one)].filter(Boolean).join(" > ");
    };
    const tell = (what, one, value, least, example) => {
        if (value >= least) return;
        const where = name(one), key = [what, where, least].join(), had = found.get(key);
        if (had) {
            had.count += 1;
            if (value < had.ratio) Object.assign(had, { ratio: value, example });
        } else found.set(key, { what, where, ratio: value, least, example, count: 1 });
    };
    const visible = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    const large = (style) => {
        const size = parseFloat(style.fontSize);
        return size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    };
    const SHAPES = "path, line, rect, circle, ellipse, polygon, polyline";
    const isPlain = (style, paint) => style[paint] !== "none" && !style[paint].startsWith("url");
    const withOpacity = ([r, g, b, a], opacity) => [r, g, b, a * Number(opacity)];
    const paints = (style) => ["fill", "stroke"]
        .filter((paint) => isPlain(style, paint) && (paint === "fill" || parseFloat(style.strokeWidth) > 0))
        .map((paint) => withOpacity(parsed(style[paint]), style[`${paint}Opacity`]))
        .filter(([, , , a]) => a > 0);
    /* The shape on which a text of a drawing is written: the last one before it that covers its middle. */
    const below = (text) => {
        const box = text.getBoundingClientRect(), drawing = text.closest(".js-plotly-plot") ?? text.ownerSVGElement;
        const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
        let last = null;
        for (const shape of drawing.querySelectorAll(SHAPES)) {
            if (!(shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)) break;
            if (shape.closest("defs, .draglayer") || !shape.getScreenCTM()) continue;
            const at = new DOMPoint(x, y).matrixTransform(shape.getScreenCTM().inverse());
            const style = getComputedStyle(shape), fill = style.fill === "none" ? null : paints(style)[0];
            if (fill && visible(shape) && shape.isPointInFill(at)) last = withOpacity(fill, style.opacity);
        }
        return last;
    };
    const covers = (text) => {
        const box = text.getBoundingClientRect(), [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
        const drawing = text.closest(".js-plotly-plot") ?? text.ownerSVGElement;
        return [...drawing.querySelectorAll("image")].some((image) => {
            const other = image.getBoundingClientRect();
            return x > other.left && x < other.right && y > other.top && y < other.bottom;
        });
    };
    const ofText = (node) => {
        const one = node.parentElement ?? node.getRootNode().host, style = getComputedStyle(one);
        const range = document.createRange();
        range.selectNodeContents(node);
        const box = range.getBoundingClientRect();
        if (box.width <= 1 || box.height <= 1 || parseFloat(style.fontSize) === 0) return;
        const isDrawn = one instanceof SVGElement;
        if (isDrawn && covers(one)) return;  // numbers on a map's image: their ink is chosen for each shade
        const color = isDrawn ? withOpacity(parsed(style.fill), style.fillOpacity) : parsed(style.color);
        if (color[3] === 0) return;
        const [shown, ground] = seen(one, color, isDrawn ? below(one) : null);
        if (ratio(shown, ground) < 1.01 && one.closest("[data-testid=stSlider]")) return;  // said while it is moved
        const least = one.closest("[data-testid=stIconMaterial]") ? GRAPHICS : large(style) ? LARGE : TEXT;
        tell("text", one, ratio(shown, ground), least, node.data.trim().slice(0, 40));
    };
    const rings = (shadow) => shadow === "none" ? [] : shadow.split(/,(?![^(]*\\))/).filter((each) => {
        const [x, y, blur, spread] = each.replace(/^.*\\)/, "").match(/-?[\\d.]+(?=px)/g).map(Number);
        return x === 0 && y === 0 && blur === 0 && spread >= 1;
    }).map((each) => parsed(each.match(/^\\s*(\\w+\\(.*\\)|#\\w+|[a-z]+)/)[1]));
    const frame = (style) => {
        const sides = ["Top", "Right", "Bottom", "Left"].filter((side) =>
            parseFloat(style[`border${side}Width`]) >= 1 && !["none", "hidden"].includes(style[`border${side}Style`]) &&
            parsed(style[`border${side}Color`])[3] > 0);
        const lines = sides.length >= 3 ? sides.map((side) => parsed(style[`border${side}Color`])) : [];
        if (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1)
            lines.push(parsed(style.outlineColor));
        return [...lines, ...rings(style.boxShadow)].filter(([, , , a]) => a > 0);
    };
    const ofElement = (one) => {
        const style = getComputedStyle(one), box = one.getBoundingClientRect();
        if (box.width <= 1 || box.height <= 1 || !parent(one)) return;
        if (one instanceof SVGElement) {
            if (!one.matches(SHAPES) || one.closest("defs, clipPath, mask, pattern")) return;
            const values = paints(style).map((paint) => ratio(...seen(one, paint)));
            const most = Math.max(...values);  // of 1: not to be seen, but to be pointed at
            if (most > 1.01) tell("mark", one, most, GRAPHICS, one.getAttribute("class") ?? "");
            return;
        }
        const around = behind(parent(one)), fill = ratio(behind(one), around), lines = frame(style);
        const inside = one.textContent.trim() || one.shadowRoot;
        if (lines.length) {
            const edges = lines.map((line) => ratio(seen(parent(one), line)[0], around));
            tell("frame", one, Math.max(fill, ...edges), GRAPHICS, one.textContent.trim().slice(0, 40));
            return;
        }
        const isFilled = parsed(style.backgroundColor)[3] > 0 && Math.min(box.width, box.height) >= 3;
        if (isFilled && !inside && !one.childElementCount)
            tell("mark", one, fill, GRAPHICS, `${Math.round(box.width)} x ${Math.round(box.height)}`);
    };
    const ofCanvas = (one) => {
        const ground = behind(one), isTable = one.closest("[data-testid=stDataFrame]");
        for (const { what, style, alpha, text, ground: under } of window.drawnOn(one).values()) {
            const [r, g, b, a] = parsed(style), paper = under ? over(ground, parsed(under)) : ground;
            const value = ratio(over(paper, [r, g, b, a * alpha]), paper);
            if (what !== "text" && (isTable || value < 1.01)) continue;  // rules, and gaps in the colour of the page
            if (isTable && ["–", "None"].includes(text)) continue;  // of an empty cell
            tell("canvas", one, value, what === "text" ? TEXT : GRAPHICS, `${what} ${style} ${alpha} ${text}`);
        }
    };
    const reached = [], stops = "a[href], button, input, select, textarea, summary, [tabindex='0']";
    const walk = (node) => {
        if (node.nodeType === Node.TEXT_NODE) {
            const isUsed = !node.parentElement?.closest(":disabled, [aria-disabled=true]");
            if (isUsed && /[\\p{L}\\p{N}]/u.test(node.data)) ofText(node);
            return;
        }
        if (node.nodeType === Node.ELEMENT_NODE) {
            if (["STYLE", "SCRIPT", "NOSCRIPT", "TEMPLATE", "IFRAME"].includes(node.tagName)) return;
            const style = getComputedStyle(node);
            if (style.display === "none" || style.clipPath === "inset(50%)") return;
            if (style.display !== "contents" && !visible(node)) return;
            if (!decorated(node)) ofElement(node);
            if (node.tagName === "CANVAS") ofCanvas(node);
            const isGrid = node.closest("[data-testid=stDataFrame]");  // it draws the ring of a cell itself
            if (node.matches(stops) && node.tabIndex >= 0 && !node.disabled && !isGrid) reached.push(node);
        }
        for (const child of node.shadowRoot?.childNodes ?? []) walk(child);
        for (const child of node.childNodes) walk(child);
    };
    walk(document.body);
    /* The ring of the focus: what of it or of what is around it is drawn otherwise than before. */
    const around = (one) => {
        const found = [one, ...one.querySelectorAll("*")];
        for (let at = parent(one), steps = 0; at && steps < 8; at = parent(at), steps++) found.push(at);
        return found;
    };
    const quiet = new CSSStyleSheet();
    quiet.replaceSync("*, *::before, *::after { transition: none !important; animation: none !important; }");
    const roots = new Set([document, ...reached.map((one) => one.getRootNode())]);
    for (const root of roots) root.adoptedStyleSheets = [...root.adoptedStyleSheets, quiet];
    const look = (one) => {
        const styles = [null, "::after", "::before"].map((part) => getComputedStyle(one, part));
        const lines = styles.flatMap((style, i) =>
            frame(style).map((line) => [i, style.outlineStyle, style.boxShadow, line]));
        return [...lines, [styles[0].backgroundColor]].map((each) => JSON.stringify(each));
    };
    document.activeElement?.blur();
    for (const one of reached) {
        const parts = around(one), plain = parts.map(look);
        one.focus({ preventScroll: true, focusVisible: true });
        if (!one.matches(":focus")) continue;
        const strongest = () => Math.max(1, ...parts.flatMap((part, i) => {
            const ground = behind(parent(part) ?? part);
            return look(part).filter((each) => !plain[i].includes(each)).map((each) => {
                const line = JSON.parse(each).at(-1);
                return ratio(typeof line === "string" ? behind(part) : seen(parent(part) ?? part, line)[0], ground);
            });
        }));
        let best = strongest();
        if (best < GRAPHICS) {  // some draw it a moment later
            await new Promise((done) => setTimeout(done, 100));
            best = strongest();
        }
        tell("focus", one, best, GRAPHICS, (one.ariaLabel || one.innerText || "").trim().slice(0, 40));
        one.blur();
    }
    for (const root of roots) root.adoptedStyleSheets = root.adoptedStyleSheets.filter((sheet) => sheet !== quiet);
    return [...found.values()].map((one) => ({ ...one, ratio: Math.round(one.ratio * 100) / 100 }));
}"""


def findings(page: Page) -> list[Finding]:
    """What has too little contrast on a page that was opened after ``record``."""
    page.keyboard.press("Shift")  # from now on a focus is one of the keyboard, which has a ring
    given = {"TEXT": TEXT, "LARGE": LARGE, "GRAPHICS": GRAPHICS, "decoration": list(DECORATION)}
    found: list[Finding] = page.evaluate(MEASURED, given)
    return sorted(found, key=lambda one: (one["what"], one["ratio"]))


def record(page: Page | BrowserContext) -> None:
    """Note from the next visit on what canvases draw with."""
    page.add_init_script(f"({RECORDED})()")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="pages, by the word of their address; without one, all")
    parser.add_argument("--json", action="store_true", help="one line of JSON for each finding")
    given = parser.parse_args()
    with served() as (address, _), sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET.split())
        for scheme in ("light", "dark"):
            context = browser.new_context(
                viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme=scheme, reduced_motion="reduce"
            )
            context.set_default_timeout(PATIENCE)
            record(context)
            for word in given.words or [page.word for page in PAGES]:
                page = context.new_page()
                page.goto(f"{address}/{'' if word == PAGES[0].word else word}?level=expert")
                settle(page)
                for one in findings(page):
                    if given.json:
                        print(json.dumps({"page": word, "scheme": scheme, **one}, ensure_ascii=False), flush=True)
                    else:
                        print(
                            f"{word:<12} {scheme:<5} {one['what']:<6} {one['ratio']:5.2f} of {one['least']:.1f} "
                            f"{one['where']} ({one['count']}; {one['example']!r})",
                            flush=True,
                        )
                page.close()
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
