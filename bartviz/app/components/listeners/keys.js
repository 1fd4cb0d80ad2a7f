// Ctrl+Enter belongs to the field that is being typed in: Run's shortcut, which listens at the document, receives it
// only from the sidebar and from places where nothing is typed. React's own listeners are further in and come first.

/** Whether a key press is Ctrl+Enter (or Cmd+Enter) in a text field outside of the sidebar. `path`: from the field up. */
export function belongsToField({ key, ctrlKey, metaKey }, path) {
  if (key !== "Enter" || !(ctrlKey || metaKey)) return false;
  if (path.some((node) => node.dataset?.testid === "stSidebar")) return false;
  return ["TEXTAREA", "INPUT"].includes(path[0]?.tagName);
}

/** Keep such a key press from Run. */
export function keepFromRun(event) {
  if (belongsToField(event, event.composedPath())) event.stopPropagation();
}
