/** Where the tokens go: the largest parts, and each message. */

import { get } from "./api.js";
import { h } from "./dom.js";
import { grouped, priorityText, visible } from "./format.js";
import { faultCard, faultOf, wasAborted } from "./faults.js";

/** @typedef {import("./rows.js").Rows} Rows */

const MOST_MESSAGES = 200;

export class CostsPanel {
  /**
   * @param {HTMLElement} root
   * @param {{pick: (row: number) => void}} hooks
   */
  constructor(root, hooks) {
    this.root = root;
    this.hooks = hooks;
    /** @type {AbortController | null} */
    this.asking = null;
  }

  /**
   * @param {string} view
   * @param {Rows} rows
   * @param {number} limit
   */
  async show(view, rows, limit) {
    this.asking?.abort();
    this.asking = new AbortController();
    this.root.setAttribute("aria-busy", "true");
    try {
      const report = await get(`views/${encodeURIComponent(view)}/report`, { limit }, this.asking.signal);
      this.draw(rows, report);
    } catch (error) {
      if (!wasAborted(error)) this.root.replaceChildren(faultCard(faultOf(error)));
    } finally {
      this.root.removeAttribute("aria-busy");
    }
  }

  /**
   * @param {Rows} rows
   * @param {any} report
   */
  draw(rows, report) {
    const largest = /** @type {any[]} */ (report.largest ?? []);
    const messages = /** @type {any[]} */ (report.messages ?? []);
    const top = Math.max(1, ...largest.map((part) => part.tokens));
    const most = Math.max(1, ...messages.map((message) => message.tokens));
    /** @type {HTMLElement[]} */
    const parts = [h("h2", {}, "Largest parts")];
    if (largest.length === 0) parts.push(h("p", { class: "hint" }, "Nothing is in."));
    parts.push(h("ul", { class: "bars" }, largest.map((part) => this.#largest(rows, part, top))));
    const named = messages.filter((message) => message.row >= 0);
    if (named.length > 0) {
      parts.push(h("h2", {}, "Messages"));
      parts.push(h("ul", { class: "bars" }, named.slice(0, MOST_MESSAGES).map((message) => this.#message(rows, message, most))));
      if (named.length > MOST_MESSAGES) parts.push(h("p", { class: "hint" }, `${grouped(named.length - MOST_MESSAGES)} more messages`));
    }
    const rest = [];
    if (report.other_tokens) rest.push(`${grouped(report.other_tokens)} tokens open the answer and close the tools.`);
    if (report.shared_tokens > 0) rest.push(`Where texts meet, ${grouped(report.shared_tokens)} tokens fewer are needed than alone.`);
    if (report.shared_tokens < 0) rest.push(`Where texts meet, ${grouped(-report.shared_tokens)} tokens more are needed than alone.`);
    parts.push(...rest.map((text) => h("p", { class: "hint" }, text)));
    this.root.replaceChildren(...parts);
  }

  /**
   * @param {Rows} rows
   * @param {any} part
   * @param {number} top
   */
  #largest(rows, part, top) {
    const name = nameOf(rows, part);
    const rank = part.row < 0 ? -1 : rows.ranks[part.row];
    const priority = rank < 0 ? "" : priorityText(part.priority);
    return this.#bar(part.row, rank, name, priority, part.tokens, top, true);
  }

  /**
   * @param {Rows} rows
   * @param {any} message
   * @param {number} most
   */
  #message(rows, message, most) {
    const label = rows.label(message.row);
    const name = `${rows.details(message.row).role ?? "message"}${label ? ` · ${visible(label)}` : ""}`;
    const rank = rows.ranks[message.row];
    return this.#bar(message.row, rank, name, message.included ? "" : "out", message.tokens, most, message.included);
  }

  /**
   * @param {number} row
   * @param {number} rank
   * @param {string} name
   * @param {string} fact
   * @param {number} tokens
   * @param {number} most
   * @param {boolean} isIn
   */
  #bar(row, rank, name, fact, tokens, most, isIn) {
    const fill = h("i", { class: `fill ${rank < 0 ? "required" : `rank-${rank}`}` });
    fill.style.width = `${Math.max(0.5, (tokens / most) * 100)}%`;
    return h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: isIn ? "bar" : "bar out", disabled: row < 0, onclick: () => this.hooks.pick(row) },
        h("span", { class: "cut" }, name),
        h("span", { class: "hint" }, fact),
        h("span", { class: "number" }, grouped(tokens)),
        h("span", { class: "track", "aria-hidden": "true" }, fill),
      ),
    );
  }
}

/**
 * A part by its label; without one by its kind, and what it stands in.
 *
 * @param {Rows} rows
 * @param {{row: number, label: string | null}} part
 */
function nameOf(rows, { row, label }) {
  if (label !== null) return visible(label);
  if (row < 0) return "root";
  const kind = rows.details(row).role ?? rows.kind(row).replaceAll("_", " ");
  for (let at = rows.parent[row]; at >= 0; at = rows.parent[at]) {
    const around = rows.label(at);
    if (around !== null) return `${kind} in ${visible(around)}`;
  }
  return kind;
}
