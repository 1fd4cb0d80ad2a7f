// What tsc does not see in the scripts: names that nobody uses, a name that hides another one.
import js from "@eslint/js";
import globals from "globals";

const BROWSER = "bartviz/**/*.js";
// Names of the window that a module may have meant to import: no script uses the window's own.
const CONFUSING = [
  "close",
  "event",
  "find",
  "focus",
  "length",
  "name",
  "open",
  "parent",
  "print",
  "scroll",
  "status",
  "stop",
  "top",
];

export default [
  { ignores: [".venv/", "build/", "bartviz/features/heads/figure_classic/vendor/"] },
  js.configs.recommended,
  {
    files: [BROWSER],
    languageOptions: { globals: globals.browser },
    rules: { "no-restricted-globals": ["error", ...CONFUSING], "no-shadow": "error" },
  },
  { files: ["tests/**/*.mjs", "scripts/js/kernel.mjs"], languageOptions: { globals: globals.node } },
  {
    rules: {
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-var": "error",
      "prefer-const": ["error", { destructuring: "all" }],
    },
  },
];
