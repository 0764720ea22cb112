/** Keys and signs, and the switch for keys of one letter. */

import { read, write } from "./api.js";
import { byId, h } from "./dom.js";

const KEYS = [
  ["?", "this help"],
  ["L", "to the limit; arrow keys move it, with Shift by one token, Page Up and Page Down by much"],
  ["[  ]", "one level fewer, one level more"],
  ["J  K", "next and previous element in the text"],
  ["O", "show or hide what is out"],
  ["T", "show or hide token boundaries"],
  ["E", "to the elements; arrow keys go through the tree, Enter shows the text"],
  ["P", "to the props; Ctrl Enter renders them"],
  ["A", "to the answer; Ctrl Enter sends it"],
  ["/", "to the list of prompts"],
  ["Esc", "close what is open, let go of what is picked"],
];

/**
 * Keys of one letter, unless somebody writes or has switched them off.
 *
 * @param {Record<string, () => void>} actions
 */
export function startKeys(actions) {
  const dialog = byId("help", HTMLDialogElement);
  const letters = h("input", { type: "checkbox" });
  letters.checked = read("priompt-letters") !== "false";
  letters.addEventListener("change", () => write("priompt-letters", String(letters.checked)));
  const close = h("button", { type: "button", class: "primary", onclick: () => dialog.close() }, "Close");
  dialog.append(
    h("h2", { id: "help-title" }, "Keys and signs"),
    h("dl", { class: "keys" }, ...KEYS.map(([key, told]) => h("div", {}, h("dt", {}, ...key.split("  ").map((one) => h("kbd", {}, one))), h("dd", {}, told)))),
    h("label", { class: "check" }, letters, " Keys of one letter"),
    h("p", { class: "signs" }, h("span", { class: "piece" }, "Plain text"), " is required: it is always in. ", h("span", { class: "piece rank-0" }, "Coloured"), h("span", { class: "piece rank-2" }, " text "), h("span", { class: "piece rank-4" }, "has a priority"), ", from high to low. ", h("span", { class: "piece out" }, "Hatched text"), " is out: it would cost tokens that the limit does not have."),
    h("p", { class: "actions" }, close),
  );
  const open = () => dialog.showModal();
  byId("help-open", HTMLButtonElement).addEventListener("click", open);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || dialog.open) return;
    if (event.key !== "Escape" && (!letters.checked || isWriting(event.target))) return;
    const action = event.key === "?" ? open : actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (action === undefined) return;
    if (event.key !== "Escape") event.preventDefault();
    action();
  });
}

/** @param {EventTarget | null} target */
function isWriting(target) {
  if (target instanceof HTMLInputElement) return !["checkbox", "range", "radio", "button"].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
