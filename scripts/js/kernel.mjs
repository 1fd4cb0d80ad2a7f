// Compiles the engine's kernel.wat into kernel.js: npm run kernel. With --check it only says whether they are the same.

import { readFileSync, writeFileSync } from "node:fs";
import wabt from "wabt";

const place = (name) => new URL(`../../bartviz/explorer/engine/${name}`, import.meta.url);
const HELD = /(const CODE =\s+")([^"]*)/;

const { parseWat } = await wabt();
const compiled = parseWat("kernel.wat", readFileSync(place("kernel.wat"), "utf8"), { simd: true }).toBinary({});
const code = Buffer.from(compiled.buffer).toString("base64");
const text = readFileSync(place("kernel.js"), "utf8");
if (HELD.exec(text)[2] === code) console.log("kernel.js is what kernel.wat compiles to");
else if (process.argv.includes("--check")) {
  console.error("kernel.js is not what kernel.wat compiles to: npm run kernel");
  process.exitCode = 1;
} else writeFileSync(place("kernel.js"), text.replace(HELD, `$1${code}`));
