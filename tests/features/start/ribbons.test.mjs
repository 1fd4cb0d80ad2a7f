// The arithmetic of the ribbons and of the arrow keys, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { neighbour, shape } from "../../../bartviz/browser/ribbons/ribbons.js";
import { isDark } from "../../../bartviz/app/components/theme/theme.js";

const points = (path) => path.match(/-?[\d.]+,-?[\d.]+/g).map((point) => point.split(",").map(Number));

test("a single ribbon joins the middles of its chips, 26 pixels wide at weight 1", () => {
  const [ribbon] = shape([[0, 0, 1]], [{ x: 0, width: 100, y: 10 }], [{ x: 200, width: 60, y: 110 }]);
  assert.deepEqual([ribbon.t, ribbon.s], [0, 0]);
  const corners = points(ribbon.path),
    last = corners.length / 2;
  assert.deepEqual(
    [corners[0], corners.at(-1)],
    [
      [37, 10],
      [63, 10],
    ],
  );
  assert.deepEqual(
    [corners[last - 1], corners[last]],
    [
      [217, 110],
      [243, 110],
    ],
  );
});

test("a slanted ribbon is as wide as an upright one, all the way", () => {
  for (const x of [0, 40, 200]) {
    const [ribbon] = shape([[0, 0, 1]], [{ x: 0, width: 100, y: 0 }], [{ x, width: 100, y: 200 }]);
    const corners = points(ribbon.path);
    for (let at = 0; at < corners.length / 2; at += 1) {
      const [[x1, y1], [x2, y2]] = [corners[at], corners[corners.length - 1 - at]];
      assert.ok(Math.abs(Math.hypot(x2 - x1, y2 - y1) - 26) < 0.2, `${x}: ${at}`);
    }
  }
});

test("ribbons of one chip stand beside each other in the order of their other ends, and never wider than the chip", () => {
  const edges = [
    [0, 1, 0.5],
    [0, 0, 0.5],
  ];
  const above = [
    { x: 0, width: 50, y: 0 },
    { x: 100, width: 50, y: 0 },
  ];
  const [second, first] = shape(edges, above, [{ x: 50, width: 20, y: 100 }]);
  const below = (ribbon) => {
    const corners = points(ribbon.path);
    return [corners[corners.length / 2 - 1][0], corners[corners.length / 2][0]];
  };
  const [[left, join], [again, right]] = [below(first), below(second)];
  assert.equal(join, again);
  assert.ok(left >= 50 && right <= 70, `${left} to ${right}`);
  assert.ok(Math.abs(right - left - 0.92 * 20) < 0.11);
});

test("no edges, no ribbons", () => assert.deepEqual(shape([], [], []), []));

test("arrow keys walk along a line, stop at its ends, and cross to the same share of the other", () => {
  const counts = { above: 9, below: 5 };
  assert.deepEqual(neighbour({ line: "below", index: 1 }, "ArrowRight", counts), { line: "below", index: 2 });
  assert.equal(neighbour({ line: "below", index: 4 }, "ArrowRight", counts), null);
  assert.equal(neighbour({ line: "below", index: 0 }, "ArrowLeft", counts), null);
  assert.deepEqual(neighbour({ line: "below", index: 2 }, "ArrowUp", counts), { line: "above", index: 4 });
  assert.deepEqual(neighbour({ line: "above", index: 8 }, "ArrowDown", counts), { line: "below", index: 4 });
  assert.equal(neighbour({ line: "above", index: 8 }, "ArrowUp", counts), null);
  assert.equal(neighbour({ line: "above", index: 8 }, "Tab", counts), null);
  assert.deepEqual(neighbour({ line: "below", index: 0 }, "ArrowUp", { above: 3, below: 1 }), {
    line: "above",
    index: 0,
  });
});

test("dark and light are told from any way to write a colour", () => {
  assert.deepEqual(["#0e1117", "rgb(14, 17, 23)", "#ffffff", "rgb(255, 255, 255)", ""].map(isDark), [
    true,
    true,
    false,
    false,
    false,
  ]);
});
