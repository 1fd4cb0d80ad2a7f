// The page of a file of records.

/** @import { Mount } from "./types.js" */
import { OwnPage } from "./around.js";
import { opened } from "./file.js";
import { Explorer } from "./page.js";

/**
 * For the browser's console, too: `await bartviz.weights("cross", 2, 3)` is one head, row by row.
 * @param {{ canvas: Mount, player: Mount }} mounts
 */
export default async function start(mounts) {
  const { header, part } = await opened(document.getElementById("data").textContent);
  const explorer = new Explorer(new OwnPage(), mounts, header, part);
  explorer.listen();
  globalThis.bartviz = {
    weights: (kind, layer, head, record = 0) => explorer.weights(header.records[record].kinds[kind], layer, head),
  };
  await explorer.show();
  document.documentElement.dataset.ready = "yes";
}
