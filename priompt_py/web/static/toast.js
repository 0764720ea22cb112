/** A word at the bottom of the page, for some seconds. */

import { byId } from "./dom.js";

let timer = 0;

/** @param {string} text */
export function toast(text) {
  const root = byId("toast", HTMLElement);
  root.textContent = text;
  root.classList.add("shown");
  clearTimeout(timer);
  timer = setTimeout(() => {
    root.classList.remove("shown");
    root.textContent = "";
  }, 4_000);
}
