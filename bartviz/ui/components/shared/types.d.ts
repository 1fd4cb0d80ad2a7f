// What every component's scripts hand each other. Only the type checker and editors read this file.

/** Plain colours and fonts of the page's theme. */
export interface Theme {
  ground: string;
  ink: string;
  dark: boolean;
  faint: string;
  text: string;
  line: string;
  hatch: string;
  font: string;
  mono: string;
}
