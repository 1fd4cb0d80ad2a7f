// Compiles kernel.wat into kernel.js: node compile.mjs
/* global URL, Buffer */
// @ts-nocheck

import { readFileSync, writeFileSync } from "node:fs";
import wabt from "wabt";

const here = (name) => new URL(name, import.meta.url);
const module = (await wabt()).parseWat("kernel.wat", readFileSync(here("kernel.wat"), "utf8"), { simd: true });
const code = Buffer.from(module.toBinary({}).buffer).toString("base64");
const text = readFileSync(here("kernel.js"), "utf8");
writeFileSync(here("kernel.js"), text.replace(/(const CODE =\s+")[^"]*/, `$1${code}`));
