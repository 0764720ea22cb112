/**
 * A model's answer, typed or pasted: what the prompt's handlers make of it; or, where a program waits for it, the answer
 * that the program gets.
 */

import { post } from "./api.js";
import { h } from "./dom.js";
import { plain, visible } from "./format.js";
import { faultCard, faultOf, folded } from "./faults.js";
import { toast } from "./toast.js";

/** @typedef {import("./rows.js").Rows} Rows */

export class AnswerPanel {
  /** @param {HTMLElement} root */
  constructor(root) {
    /** @type {{view: string} | {question: string} | null} */
    this.target = null;
    this.limit = 0;
    this.isOver = false;
    this.head = h("h2", {}, "Try an answer");
    this.hint = h("p", { class: "hint" });
    this.text = h("textarea", { id: "answer-text", class: "code", rows: 8, spellcheck: "false" });
    this.calls = h("textarea", { id: "answer-calls", class: "code", rows: 5, spellcheck: "false", placeholder: '[{"name": "search", "arguments": {"query": "…"}}]' });
    this.tools = h("p", { class: "actions" });
    this.callsBox = h("details", { class: "folded" }, h("summary", {}, "Tool calls"), this.tools, h("label", { class: "sr", for: "answer-calls" }, "Tool calls, as JSON"), this.calls);
    this.stream = h("input", { type: "checkbox" });
    this.streamBox = h("label", { class: "check" }, this.stream, " In pieces, as a stream");
    this.send = h("button", { type: "button", class: "primary", onclick: () => this.#send() });
    this.refuse = h("button", { type: "button", class: "quiet", onclick: () => this.#refuse() }, "Refuse");
    this.result = h("div", { class: "result", role: "status" });
    root.append(
      this.head,
      this.hint,
      h("label", { class: "title", for: "answer-text" }, "Text of the answer"),
      this.text,
      this.callsBox,
      h("p", { class: "actions" }, this.send, this.streamBox, this.refuse, h("span", { class: "hint" }, "Ctrl Enter sends")),
      this.result,
    );
    for (const field of [this.text, this.calls]) {
      field.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#send();
      });
    }
  }

  /**
   * @param {{view: string} | {question: string}} target
   * @param {Rows} rows
   * @param {string} name
   */
  open(target, rows, name) {
    const before = JSON.stringify(this.target);
    const isQuestion = "question" in target;
    if (isQuestion && before !== JSON.stringify(target)) this.text.value = this.calls.value = "";
    this.target = target;
    this.head.textContent = isQuestion ? `Answer for ${visible(name)}` : "Try an answer";
    const captures = [];
    /** @type {any[]} */
    const tools = [];
    for (let row = 0; row < rows.count; row++) {
      if (rows.kind(row) === "capture") captures.push(...(rows.details(row).handlers ?? []));
      if (rows.kind(row) === "tool_definition") tools.push(toolOf(rows.details(row)));
    }
    this.hint.textContent = isQuestion
      ? "The program waits, and goes on with what you send."
      : captures.length > 0 || tools.length > 0
        ? `The prompt hears answers by ${[...new Set(captures), ...tools.map((tool) => tool.name)].join(", ")}.`
        : "The prompt has no handlers: you will see what the answer is read as.";
    this.streamBox.hidden = isQuestion;
    this.refuse.hidden = !isQuestion;
    this.send.textContent = isQuestion ? "Send" : "Give it to the handlers";
    this.result.replaceChildren();
    this.isOver = this.send.disabled = this.refuse.disabled = false;
    this.tools.replaceChildren(...tools.slice(0, 12).map((tool) => this.#toolButton(tool)));
  }

  /** @param {any} tool */
  #toolButton(tool) {
    const add = () => {
      const calls = this.calls.value.trim() === "" ? [] : JSON.parse(this.calls.value);
      calls.push({ id: `call_${calls.length + 1}`, name: tool.name, arguments: argumentsFor(plain(tool.parameters)) });
      this.calls.value = JSON.stringify(calls, null, 2);
    };
    const click = () => {
      try {
        add();
      } catch {
        this.#fail("The tool calls so far are no JSON list.");
      }
    };
    return h("button", { type: "button", class: "quiet", onclick: click }, `+ ${visible(String(tool.name))}`);
  }

  /** @returns {string | {text: string, tool_calls: {id: string, name: string, arguments: string}[]}} */
  #answer() {
    const calls = this.calls.value.trim();
    if (calls === "") return this.text.value;
    const given = JSON.parse(calls);
    if (!Array.isArray(given)) throw new SyntaxError("tool calls are a list");
    const made = given.map((call, number) => ({
      id: String(call.id ?? `call_${number + 1}`),
      name: String(call.name),
      arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {}),
    }));
    return { text: this.text.value, tool_calls: made };
  }

  async #send() {
    if (this.target === null || this.send.disabled) return;
    let answer;
    try {
      answer = this.#answer();
    } catch (error) {
      this.#fail(`The tool calls are no JSON list: ${error instanceof Error ? error.message : error}`);
      return;
    }
    this.send.disabled = true;
    this.result.replaceChildren(h("p", { class: "hint" }, "…"));
    try {
      if ("question" in this.target) {
        await post(`questions/${encodeURIComponent(this.target.question)}/answer`, { answer });
        this.#done("Sent.");
      } else {
        const body = { limit: this.limit, answer, stream: this.stream.checked, pause: 0 };
        const found = await post(`views/${encodeURIComponent(this.target.view)}/feed`, body);
        this.result.replaceChildren(...resultOf(found));
      }
    } catch (error) {
      this.result.replaceChildren(faultCard(faultOf(error)));
    } finally {
      this.send.disabled = this.isOver;
    }
  }

  async #refuse() {
    if (this.target === null || !("question" in this.target)) return;
    try {
      await post(`questions/${encodeURIComponent(this.target.question)}/refuse`, { reason: this.text.value || "a person refused it in the preview" });
      this.#done("Refused.");
    } catch (error) {
      this.result.replaceChildren(faultCard(faultOf(error)));
    }
  }

  /** @param {string} told */
  #done(told) {
    this.text.value = this.calls.value = "";
    this.result.replaceChildren(h("p", { class: "good" }, told));
    toast(told);
  }

  /** The question waits no more: it is answered, or its program has gone on. */
  over() {
    this.hint.textContent = "This question waits no more. The next one will come up here.";
    this.isOver = this.send.disabled = this.refuse.disabled = true;
  }

  /** @param {string} message */
  #fail(message) {
    this.result.replaceChildren(h("p", { class: "bad" }, message));
  }
}

/**
 * A tool; of a question all that is known is a sentence, which begins with its name.
 *
 * @param {any} details
 */
function toolOf(details) {
  return typeof details.told === "string" ? { name: details.told.split(":")[0] } : details;
}

/**
 * Arguments with the names that a tool requires, to be filled in.
 *
 * @param {any} schema
 */
function argumentsFor(schema) {
  const properties = schema?.properties ?? {};
  const names = Array.isArray(schema?.required) ? schema.required : Object.keys(properties);
  /** @type {Record<string, unknown>} */
  const empty = { string: "", number: 0, integer: 0, boolean: false, array: [], object: {} };
  return Object.fromEntries(names.map((/** @type {string} */ name) => [name, empty[properties[name]?.type] ?? null]));
}

/** @param {any} found */
function resultOf(found) {
  const parts = [];
  if (found.error) parts.push(faultCard(found.error, { head: "The answer failed" }));
  if (found.returned) parts.push(h("h3", {}, "What on_return got"), valueOf(found.returned));
  const calls = /** @type {any[]} */ (found.calls ?? []);
  if (calls.length > 0) parts.push(h("h3", {}, "Handlers"));
  for (const call of calls) {
    const pieces = call.pieces === null || call.pieces === undefined ? "" : `, ${call.pieces} pieces`;
    parts.push(
      h("p", { class: `call ${call.state}` }, h("b", {}, visible(String(call.handler))), ` ${call.state}${pieces}`),
      ...(call.returned ? [valueOf(call.returned)] : []),
      ...(call.error ? [faultCard(call.error, { head: "This handler raised" })] : []),
    );
  }
  parts.push(h("h3", {}, "Read as"), valueOf({ json: found.output }));
  if (found.printed) parts.push(folded("What it printed", found.printed));
  return parts;
}

/** @param {{json?: unknown, repr?: string}} value */
function valueOf(value) {
  const text = value.repr ?? JSON.stringify(value.json, null, 2);
  return h("pre", { class: "code", tabindex: 0 }, visible(text));
}
