// A file that is dropped anywhere on a page reaches the sidebar's uploader. A file that is too large is not sent: the page
// says so in its own words, which Streamlit has in English only.

const UPLOADER = ".st-key-file input[type='file']",
  OWN = "[data-testid='stFileUploaderDropzone']"; // Streamlit's uploaders take what is dropped on them
const HELD = "dropping"; // on the body while a file is over the window: style.css draws a frame
export const REFUSED = "bartviz-refused"; // the event for a file that is too large, with its name and size

/** Whether files are dragged, not a text or a link, and not over an uploader.
 * @param {any} event */
export function isForPage({ dataTransfer, target }) {
  return hasFiles(dataTransfer) && !target?.closest?.(OWN);
}

/** @returns {HTMLInputElement | null} */
const uploader = () => document.querySelector(UPLOADER);

const hasFiles = (transfer) => [...(transfer?.types ?? [])].includes("Files");

/** The first of the files that has more bytes than the server accepts. */
export const tooLarge = (files, limit) => [...(files ?? [])].find(({ size }) => size > limit);

/** Give the uploader the first of the files: it opens one at a time.
 * @param {FileList} among */
function give([file]) {
  const input = uploader();
  if (!file || !input) return;
  const files = new DataTransfer();
  files.items.add(file);
  input.files = files.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Listen to what is dropped and chosen, on all pages. */
export function openFiles(limit) {
  const away = () => delete document.body.dataset[HELD];
  const refuse = (event, files) => {
    const file = tooLarge(files, limit);
    if (!file) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.target instanceof HTMLInputElement) event.target.value = ""; // so that it can be chosen again
    away();
    document.dispatchEvent(new CustomEvent(REFUSED, { detail: { name: file.name, size: file.size } }));
  };
  for (const name of ["dragenter", "dragover"]) {
    document.addEventListener(name, (/** @type {any} */ event) => {
      if (!isForPage(event)) return;
      event.preventDefault(); // else the browser would leave the app for the file
      document.body.dataset[HELD] = "yes";
    });
  }
  document.addEventListener("dragleave", (event) => event.relatedTarget === null && away()); // of the window
  document.addEventListener("drop", (event) => refuse(event, event.dataTransfer?.files), true);
  document.addEventListener("drop", (event) => {
    away();
    if (!isForPage(event)) return;
    event.preventDefault();
    give(event.dataTransfer.files);
  });
  document.addEventListener("change", (/** @type {any} */ event) => refuse(event, event.target.files), true);
}
