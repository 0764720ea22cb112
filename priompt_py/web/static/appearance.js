/** Dark or light, and what of the text is shown: kept for the next time. */

import { read, write } from "./api.js";
import { byId } from "./dom.js";

const THEMES = ["auto", "light", "dark"];

/** Let the button go through the themes. */
export function startTheme() {
  const button = byId("theme", HTMLButtonElement);
  const word = /** @type {HTMLElement} */ (button.querySelector(".word"));
  /** @param {string} theme */
  const use = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    word.textContent = theme[0].toUpperCase() + theme.slice(1);
    button.setAttribute("aria-label", `Appearance: ${theme}`);
    button.dataset.value = theme;
  };
  const kept = read("priompt-theme") ?? "auto";
  use(THEMES.includes(kept) ? kept : "auto");
  button.addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(button.dataset.value ?? "auto") + 1) % THEMES.length];
    write("priompt-theme", next);
    use(next);
  });
}

/**
 * A switch whose state is kept.
 *
 * @param {string} id
 * @param {(isOn: boolean) => void} changed
 */
export function startSwitch(id, changed) {
  const input = byId(id, HTMLInputElement);
  const kept = read(`priompt-${id}`);
  if (kept !== null) input.checked = kept === "true";
  input.addEventListener("change", () => {
    write(`priompt-${id}`, String(input.checked));
    changed(input.checked);
  });
  changed(input.checked);
  return input;
}
