// What the engine and the page both write. Apart from what an old browser cannot read: the page's own script has to run.

export const CONTINUES = "⋯"; // before a label: this token continues the word, or the character, of the one before it
