/** The list of prompts with their examples and dumps, and the questions that wait. */

import { byId, h, icon } from "./dom.js";
import { grouped, visible } from "./format.js";

/**
 * @typedef {Object} Example
 * @property {string} name
 * @property {boolean} is_example
 * @property {number} size
 * @property {number | null} modified
 *
 * @typedef {Object} PromptInfo
 * @property {string} id
 * @property {string} title
 * @property {string} kind
 * @property {string | null} place
 * @property {number | null} token_limit
 * @property {{name: string, required: boolean, type: string | null, default?: unknown}[] | null} props
 * @property {boolean} takes_children
 * @property {Example[]} examples
 * @property {import("./api.js").Fault | null} problem
 *
 * @typedef {Object} Question
 * @property {string} id
 * @property {string} name
 * @property {string} asked_at
 * @property {string | null} program
 * @property {number} token_limit
 * @property {number} tokens_used
 * @property {number} tokens_reserved
 */

const SHOWN_DUMPS = 50;

export class Sidebar {
  /** @param {{open: (id: string, example: string | null) => void, question: (id: string) => void}} hooks */
  constructor(hooks) {
    this.hooks = hooks;
    /** @type {PromptInfo[]} */
    this.prompts = [];
    /** @type {{prompt: string | null, example: string | null, question: string | null}} */
    this.current = { prompt: null, example: null, question: null };
    this.list = byId("prompts", HTMLElement);
    this.filter = byId("filter", HTMLInputElement);
    this.empty = byId("prompts-empty", HTMLElement);
    /** Prompts of which all dumps are wanted. @type {Set<string>} */
    this.unfolded = new Set();
    this.filter.addEventListener("input", () => this.#draw());
    this.filter.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown") return;
      event.preventDefault();
      /** @type {HTMLElement | null} */ (this.list.querySelector("button"))?.focus();
    });
    this.list.addEventListener("keydown", (event) => this.#key(event));
  }

  /** @param {PromptInfo[]} prompts */
  show(prompts) {
    this.prompts = prompts;
    this.#draw();
  }

  /**
   * @param {string | null} prompt
   * @param {string | null} example
   * @param {string | null} question
   */
  mark(prompt, example, question) {
    this.current = { prompt, example, question };
    this.#draw();
    this.list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
    for (const button of document.querySelectorAll("#questions button")) {
      const isCurrent = /** @type {HTMLElement} */ (button).dataset.question === question;
      if (isCurrent) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }

  #draw() {
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.key : undefined;
    const wanted = this.filter.value.trim().toLowerCase();
    const found = this.prompts.filter((prompt) => `${prompt.title} ${prompt.id}`.toLowerCase().includes(wanted));
    this.list.replaceChildren(...found.map((prompt) => this.#prompt(prompt)));
    byId("filter-field", HTMLElement).hidden = this.prompts.length < 6 && wanted === "";
    this.empty.hidden = found.length > 0;
    this.empty.textContent = this.prompts.length > 0 ? "No prompt has this in its name." : "No prompts.";
    if (focused !== undefined) {
      const again = [...this.list.querySelectorAll("button")].find((one) => one.dataset.key === focused);
      again?.focus();
    }
  }

  /** @param {PromptInfo} prompt */
  #prompt(prompt) {
    const isCurrent = prompt.id === this.current.prompt && this.current.question === null;
    const button = h(
      "button",
      {
        type: "button",
        class: prompt.problem ? "prompt broken" : "prompt",
        title: prompt.place ?? prompt.id,
        "data-key": prompt.id,
        "aria-current": isCurrent && this.current.example === null ? "true" : null,
        onclick: () => this.hooks.open(prompt.id, null),
      },
      prompt.problem ? icon("warn") : null,
      h("span", { class: "cut" }, visible(prompt.title)),
      prompt.problem ? h("span", { class: "sr" }, " (can't be loaded)") : null,
      prompt.token_limit === null ? null : h("span", { class: "number" }, grouped(prompt.token_limit)),
    );
    const all = this.unfolded.has(prompt.id);
    const shown = all ? prompt.examples : prompt.examples.slice(0, isCurrent ? SHOWN_DUMPS : 3);
    const rest = prompt.examples.length - shown.length;
    return h(
      "li",
      { class: isCurrent ? "current" : null },
      button,
      prompt.examples.length === 0
        ? null
        : h(
            "ul",
            { class: "examples" },
            shown.map((example) => this.#example(prompt, example)),
            rest > 0 ? h("li", {}, this.#more(prompt, rest)) : null,
          ),
    );
  }

  /**
   * @param {PromptInfo} prompt
   * @param {number} rest
   */
  #more(prompt, rest) {
    const unfold = () => {
      this.unfolded.add(prompt.id);
      this.#draw();
    };
    return h("button", { type: "button", class: "example more", onclick: unfold }, `${grouped(rest)} more`);
  }

  /**
   * @param {PromptInfo} prompt
   * @param {Example} example
   */
  #example(prompt, example) {
    const isCurrent =
      prompt.id === this.current.prompt && example.name === this.current.example && this.current.question === null;
    return h(
      "li",
      {},
      h(
        "button",
        {
          type: "button",
          class: example.is_example ? "example" : "example dump",
          "data-key": `${prompt.id}\n${example.name}`,
          title: `${example.name}, ${grouped(example.size)} bytes`,
          "aria-current": isCurrent ? "true" : null,
          onclick: () => this.hooks.open(prompt.id, example.name),
        },
        h("span", { class: "cut" }, example.is_example ? visible(example.name) : dumpText(example)),
      ),
    );
  }

  /** Arrow keys go from button to button. @param {KeyboardEvent} event */
  #key(event) {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const buttons = [...this.list.querySelectorAll("button")];
    const place = buttons.findIndex((button) => button === document.activeElement);
    const next = buttons[place + (event.key === "ArrowDown" ? 1 : -1)];
    event.preventDefault();
    if (next) next.focus();
    else if (event.key === "ArrowUp") this.filter.focus();
  }

  /** @param {Question[]} questions */
  showQuestions(questions) {
    byId("live-list", HTMLElement).hidden = questions.length === 0;
    byId("questions", HTMLElement).replaceChildren(
      ...questions.map((question) =>
        h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              class: "question",
              "data-question": question.id,
              "aria-current": question.id === this.current.question ? "true" : null,
              onclick: () => this.hooks.question(question.id),
            },
            h("i", { class: "pulse", "aria-hidden": "true" }),
            h("span", { class: "cut" }, visible(question.name)),
            h("span", { class: "hint cut" }, `${question.program ? `${visible(question.program)} · ` : ""}${timeText(question.asked_at)}`),
          ),
        ),
      ),
    );
    const badge = byId("waiting", HTMLButtonElement);
    badge.hidden = questions.length === 0;
    badge.textContent = questions.length === 1 ? "1 question waits" : `${grouped(questions.length)} questions wait`;
  }
}

/** @param {Example} example */
function dumpText(example) {
  return example.modified === null ? visible(example.name) : new Date(example.modified * 1000).toLocaleString();
}

/** @param {string} iso */
function timeText(iso) {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? "" : time.toLocaleTimeString();
}
