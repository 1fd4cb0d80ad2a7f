// Turns of a thread: what waits for one lets events, frames and messages come first.

/** The next turn: never in the task that asks for it. */
export const pause = () => new Promise((resolve) => setTimeout(resolve));
