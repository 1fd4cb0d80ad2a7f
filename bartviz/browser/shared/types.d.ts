// What every component's scripts hand each other. Only the type checker and editors read this file.

/** What every component has: its root, its nodes by name (data-is), its messages, and a way to send Python a value. */
export interface Mounted<Parts> {
  root: HTMLElement;
  $<Name extends string>(name: Name): Name extends keyof Parts ? Parts[Name] : HTMLElement;
  say(name: string, values?: object): string;
  setStateValue(name: string, value: unknown): void;
}

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

/** A canvas of the page, and its size. */
export interface Sheet {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
  ratio: number; // pixels of the screen to one of the page
}
