/** The props: what the prompt takes, and the JSON that it gets. */

import { h } from "./dom.js";
import { visible } from "./format.js";
import { draft, keepDraft } from "./place.js";

/** @typedef {import("./sidebar.js").PromptInfo} PromptInfo */

export class PropsPanel {
  /**
   * @param {HTMLElement} root
   * @param {{render: (props: Record<string, unknown>) => void, reset: () => void, tokenizer: (name: string | null) => void}} hooks
   */
  constructor(root, hooks) {
    this.hooks = hooks;
    this.key = "";
    this.original = "{}";
    this.isGiven = false;
    this.about = h("div", { class: "about" });
    this.editor = h("textarea", { id: "props-editor", class: "code", spellcheck: "false", autocomplete: "off", rows: 12, "aria-describedby": "props-state" });
    this.state = h("p", { id: "props-state", class: "hint", role: "status" });
    this.button = h("button", { type: "button", class: "primary", onclick: () => this.render() }, "Render");
    this.reset = h("button", { type: "button", class: "quiet", onclick: () => this.#reset() }, "Reset");
    this.tokenizer = h("select", { id: "tokenizer" });
    this.tokenizer.addEventListener("change", () => hooks.tokenizer(this.tokenizer.value || null));
    this.editor.addEventListener("input", () => this.#check());
    this.editor.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.render();
    });
    root.append(
      this.about,
      h("label", { class: "title", for: "props-editor" }, "Props, as JSON"),
      this.editor,
      this.state,
      h("p", { class: "actions" }, this.button, this.reset, h("span", { class: "hint" }, "Ctrl Enter renders")),
      h("p", { class: "pair" }, h("label", { for: "tokenizer" }, "Count with"), this.tokenizer),
    );
  }

  /**
   * @param {string[]} names
   * @param {string | null} chosen
   */
  tokenizers(names, chosen) {
    this.tokenizer.replaceChildren(
      h("option", { value: "" }, "the prompt's own tokenizer"),
      ...names.map((name) => h("option", { value: name, selected: name === chosen }, name)),
    );
  }

  /**
   * What was edited before for this prompt, if anything was.
   *
   * @param {string} key
   * @returns {Record<string, unknown> | null}
   */
  edited(key) {
    const text = draft(key);
    if (text === null) return null;
    try {
      const props = JSON.parse(text);
      return isObject(props) ? props : null;
    } catch {
      return null;
    }
  }

  /**
   * A prompt is opened, or could not be.
   *
   * @param {string} key
   * @param {PromptInfo | null} prompt
   * @param {Record<string, unknown> | null} props what it was given; null where nobody knows
   */
  open(key, prompt, props) {
    this.key = key;
    this.about.replaceChildren(...aboutOf(prompt, (name, value) => this.#insert(name, value)));
    const text = draft(key) ?? JSON.stringify(props ?? skeleton(prompt), null, 2);
    this.original = text;
    if (this.editor.value !== text) this.editor.value = text;
    this.#check();
  }

  #check() {
    const { error } = parsed(this.editor.value);
    this.state.textContent = error ?? (this.editor.value === this.original ? "" : "Edited, not rendered yet.");
    this.state.classList.toggle("bad", error !== null);
    this.editor.setAttribute("aria-invalid", String(error !== null));
    this.button.disabled = error !== null;
    this.reset.hidden = draft(this.key) === null && this.editor.value === this.original;
  }

  render() {
    const { props } = parsed(this.editor.value);
    if (props === null) return;
    this.original = this.editor.value;
    keepDraft(this.key, this.editor.value);
    this.#check();
    this.hooks.render(props);
  }

  /**
   * Put a prop into the JSON, to be edited.
   *
   * @param {string} name
   * @param {unknown} value
   */
  #insert(name, value) {
    const { props } = parsed(this.editor.value);
    if (props === null) return;
    if (!(name in props)) {
      props[name] = value ?? null;
      this.editor.value = JSON.stringify(props, null, 2);
      this.#check();
    }
    const at = this.editor.value.indexOf(JSON.stringify(name));
    this.editor.focus();
    this.editor.setSelectionRange(at, this.editor.value.indexOf("\n", at));
  }

  #reset() {
    keepDraft(this.key, null);
    this.hooks.reset();
  }
}

/**
 * @param {string} text
 * @returns {{props: Record<string, unknown> | null, error: string | null}}
 */
export function parsed(text) {
  try {
    const props = JSON.parse(text.trim() === "" ? "{}" : text);
    if (isObject(props)) return { props, error: null };
    return { props: null, error: "Props are an object: {\"name\": value, …}." };
  } catch (error) {
    return { props: null, error: `No JSON yet: ${error instanceof Error ? error.message : error}.` };
  }
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The props that have to be there, to be filled in.
 *
 * @param {PromptInfo | null} prompt
 */
function skeleton(prompt) {
  const required = (prompt?.props ?? []).filter((prop) => prop.required);
  return Object.fromEntries(required.map((prop) => [prop.name, prop.type?.startsWith("str") ? "" : null]));
}

/**
 * @param {PromptInfo | null} prompt
 * @param {(name: string, value: unknown) => void} insert
 */
function aboutOf(prompt, insert) {
  if (prompt === null || prompt.props === null) return [];
  if (prompt.props.length === 0) return [h("p", { class: "hint" }, "This prompt takes no props.")];
  const rows = prompt.props.map((prop) => {
    const value = "default" in prop ? `= ${JSON.stringify(prop.default)}` : prop.required ? "required" : "";
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, h("button", { type: "button", class: "name", title: "Put it into the props", onclick: () => insert(prop.name, prop.default) }, h("code", {}, visible(prop.name)))),
      h("td", {}, prop.type === null ? "" : h("code", {}, visible(prop.type))),
      h("td", { class: "hint" }, visible(value)),
    );
  });
  return [h("table", { class: "facts props" }, h("caption", { class: "sr" }, "What the prompt takes"), h("tbody", {}, ...rows))];
}
