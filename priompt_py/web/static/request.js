/** The prompt as a provider's request, to be copied. */

import { get } from "./api.js";
import { h, icon } from "./dom.js";
import { visible } from "./format.js";
import { faultCard, faultOf, wasAborted } from "./faults.js";
import { toast } from "./toast.js";

/** @type {Record<string, string>} */
const NAMES = {
  openai: "OpenAI",
  "openai-responses": "OpenAI Responses",
  anthropic: "Anthropic",
  gemini: "Gemini",
  langchain: "LangChain",
  messages: "Messages",
  text: "Text",
  json: "priompt JSON",
};

const SHOWN = 200_000; // characters

export class RequestPanel {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.text = "";
    /** @type {AbortController | null} */
    this.asking = null;
    /** @type {{path: string, query: Record<string, number>} | null} */
    this.from = null;
    this.provider = h("select", { id: "provider", onchange: () => this.#load() });
    this.copy = h("button", { type: "button", class: "primary", onclick: () => this.#copy() }, icon("copy"), "Copy");
    this.body = h("div", { class: "request" });
    root.append(h("p", { class: "pair" }, h("label", { for: "provider" }, "Request for"), this.provider, this.copy), this.body);
  }

  /** @param {string[]} names */
  providers(names) {
    this.provider.replaceChildren(...names.map((name) => h("option", { value: name }, NAMES[name] ?? name)));
  }

  /**
   * @param {string} path of the view or question
   * @param {Record<string, number>} query
   */
  show(path, query) {
    this.from = { path, query };
    return this.#load();
  }

  async #load() {
    if (this.from === null) return;
    this.asking?.abort();
    this.asking = new AbortController();
    try {
      const query = { ...this.from.query, provider: this.provider.value };
      const found = await get(`${this.from.path}/request`, query, this.asking.signal);
      this.text = found.text;
      const shown = visible(this.text.slice(0, SHOWN));
      const rest = this.text.length > SHOWN ? h("p", { class: "hint" }, "The rest is copied, but not shown.") : null;
      this.body.replaceChildren(h("pre", { class: "code", tabindex: 0 }, shown), ...(rest ? [rest] : []));
      this.copy.disabled = false;
    } catch (error) {
      if (wasAborted(error)) return;
      this.copy.disabled = true;
      this.body.replaceChildren(faultCard(faultOf(error)));
    }
  }

  async #copy() {
    try {
      await navigator.clipboard.writeText(this.text);
      toast("Copied.");
    } catch {
      // no access to the clipboard: select it, so that Ctrl C does it
      const shown = this.body.querySelector("pre");
      if (shown) getSelection()?.selectAllChildren(shown);
      toast("Press Ctrl C to copy what is selected.");
    }
  }
}
