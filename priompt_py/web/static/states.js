/** What the page says where it has no prompt to show. */

import { keepToken } from "./api.js";
import { h } from "./dom.js";

/** Nothing is served yet. */
export function welcome() {
  return [
    h("h2", {}, "No prompts yet"),
    h("p", {}, "Start the server with the files or modules that hold prompts:"),
    h("pre", { class: "code", tabindex: 0 }, "priompt serve chat.priompt app.py:answer"),
    h("p", {}, "Prompts that are registered appear by themselves, with their examples and dumps; so does the prompt of a running program that calls ", h("code", {}, "live(prompt, props)"), "."),
  ];
}

/** The page has no token: it asks for the address that has. */
export function tokenWanted() {
  const field = h("input", { id: "token", type: "text", autocomplete: "off", spellcheck: "false" });
  const use = () => {
    if (field.value.trim() === "") return;
    keepToken(field.value);
    location.reload();
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") use();
  });
  return [
    h("h2", {}, "Open the address that priompt serve printed"),
    h("p", {}, "It ends with a token, which lets this page read your prompts and run their code. You can also paste it here:"),
    h("p", { class: "pair" }, h("label", { for: "token", class: "sr" }, "Address or token"), field, h("button", { type: "button", class: "primary", onclick: use }, "Use it")),
  ];
}
