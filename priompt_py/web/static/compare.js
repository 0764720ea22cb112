/** Two renders beside each other: what they share, where they part, and what is in one of them only. */

import { post } from "./api.js";
import { afterwards, h } from "./dom.js";
import { grouped, oneLine, priorityText, visible } from "./format.js";
import { faultCard, faultOf } from "./faults.js";

/** @typedef {import("./rows.js").Rows} Rows */
/** @typedef {{view: string, rows: Rows, limit: number, name: string, bits: Uint8Array}} Side */

const AROUND = 160; // characters before a difference
const AFTER = 240; // and behind it
const MOST = 60; // elements that are listed of a side

export class ComparePanel {
  /**
   * @param {HTMLElement} root
   * @param {{now: () => Side | null, mark: (row: number, offset: number) => void, pick: (row: number) => void}} hooks
   */
  constructor(root, hooks) {
    this.hooks = hooks;
    /** @type {Side | null} */
    this.kept = null;
    this.pin = h("button", { type: "button", class: "primary", onclick: () => this.#pin() }, "Keep this one");
    this.drop = h("button", { type: "button", class: "quiet", onclick: () => this.#drop() }, "Forget it");
    this.hint = h("p", { class: "hint" });
    this.result = h("div", { class: "result" });
    root.append(h("h2", {}, "Compare"), this.hint, h("p", { class: "actions" }, this.pin, this.drop), this.result);
    this.asked = 0;
    this.update = afterwards(120, () => this.#compare());
    this.#tell();
  }

  #pin() {
    const now = this.hooks.now();
    if (now === null) return;
    this.kept = { ...now, bits: now.bits.slice() };
    this.#tell();
    this.#compare();
  }

  #drop() {
    this.kept = null;
    this.result.replaceChildren();
    this.hooks.mark(-1, 0);
    this.#tell();
  }

  /** The kept render's view was given up by the server. */
  forget() {
    if (this.kept !== null) this.#drop();
  }

  #tell() {
    this.drop.hidden = this.kept === null;
    this.pin.textContent = this.kept === null ? "Keep this one" : "Keep the present one instead";
    this.hint.textContent =
      this.kept === null
        ? "Keep what is shown now; then move the limit, or open other props, a dump or another prompt, and see where they part."
        : `Kept: ${this.kept.name} at ${grouped(this.kept.limit)} tokens.`;
  }

  async #compare() {
    const a = this.kept;
    const b = this.hooks.now();
    if (a === null || b === null) return;
    const asked = ++this.asked;
    try {
      const body = { a: { view: a.view, limit: a.limit }, b: { view: b.view, limit: b.limit } };
      const found = await post("compare", body);
      if (asked === this.asked) this.#draw(a, b, found);
    } catch (error) {
      if (asked === this.asked) this.result.replaceChildren(faultCard(faultOf(error)));
    }
  }

  /**
   * @param {Side} a
   * @param {Side} b
   * @param {any} found
   */
  #draw(a, b, found) {
    const { difference } = found;
    const parts = [];
    parts.push(
      h(
        "table",
        { class: "facts sides" },
        h("caption", { class: "sr" }, "The two renders"),
        h(
          "tbody",
          {},
          h("tr", {}, h("th", { scope: "row" }, "A, kept"), h("td", {}, a.name), h("td", { class: "number" }, `${grouped(a.limit)} limit`), h("td", { class: "number" }, `${grouped(found.a.tokens)} tokens`)),
          h("tr", {}, h("th", { scope: "row" }, "B, shown"), h("td", {}, b.name), h("td", { class: "number" }, `${grouped(b.limit)} limit`), h("td", { class: "number" }, `${grouped(found.b.tokens)} tokens`)),
        ),
      ),
    );
    const said = difference === null ? "Both are sent alike." : `They part: ${difference.what_text}. ${sharedText(difference)}`;
    parts.push(h("p", { class: "said" }, visible(said)));
    if (difference !== null) {
      parts.push(excerptOf("A", a.rows, difference.a, a.bits), excerptOf("B", b.rows, difference.b, b.bits));
    }
    if (a.view === b.view) parts.push(...this.#lists(a, b));
    this.result.replaceChildren(...parts);
    if (difference?.b) this.hooks.mark(difference.b.row, difference.b.offset);
    else this.hooks.mark(-1, 0);
  }

  /**
   * Elements that are in one of two positions of one prompt only, the outermost ones.
   *
   * @param {Side} a
   * @param {Side} b
   */
  #lists(a, b) {
    const only = /** @type {[number[], number[]]} */ ([[], []]);
    const rows = b.rows;
    for (let row = 0; row < rows.count; row++) {
      const inA = has(a.bits, row);
      const inB = has(b.bits, row);
      if (inA === inB || rows.isDropped(row)) continue;
      only[inA ? 0 : 1].push(row);
      row = rows.end[row] - 1;
    }
    return only.flatMap((found, side) => {
      if (found.length === 0) return [];
      const name = side === 0 ? "Only in A" : "Only in B";
      const lines = found.slice(0, MOST).map((row) => h("li", {}, this.#element(rows, row)));
      const rest = found.length > MOST ? h("p", { class: "hint" }, `${grouped(found.length - MOST)} more`) : null;
      return [h("section", { class: "only" }, h("h3", {}, `${name} · ${grouped(found.length)}`), h("ul", {}, ...lines), rest)];
    });
  }

  /**
   * @param {Rows} rows
   * @param {number} row
   */
  #element(rows, row) {
    const rank = rows.ranks[row];
    return h(
      "button",
      { type: "button", class: "bar", onclick: () => this.hooks.pick(row) },
      h("i", { class: `dot ${rank < 0 ? "required" : `rank-${rank}`}`, "aria-hidden": "true" }),
      h("b", {}, visible(rows.label(row) ?? rows.details(row).role ?? "")),
      h("span", { class: "cut" }, oneLine(rows.textOf(row, 300), 80) || rows.kind(row)),
      h("span", { class: "number" }, rank < 0 ? "" : priorityText(rows.elements.effective[row])),
    );
  }
}

/**
 * @param {Uint8Array} bits
 * @param {number} row
 */
function has(bits, row) {
  return (bits[row >> 3] & (1 << (row & 7))) !== 0;
}

/** @param {{tokens: number, is_exact: boolean}} difference */
function sharedText({ tokens, is_exact: isExact }) {
  return `Before that they share ${isExact ? "" : "about "}${grouped(tokens)} tokens.`;
}

/**
 * The text around a difference: what is shared, then what is not.
 *
 * @param {string} side
 * @param {Rows} rows
 * @param {{row: number, offset: number, path: string, label: string | null, kind: string, edge?: "start" | "end" | null} | null} place
 * @param {Uint8Array} bits
 */
function excerptOf(side, rows, place, bits) {
  if (place === null) return h("figure", { class: "excerpt" }, h("figcaption", {}, `${side} ends here.`));
  const row = Math.max(0, place.row);
  const isEnd = place.kind === "frame" && place.edge !== "start";
  const isText = rows.isText(row);
  const own = isText && place.kind !== "frame" ? rows.text(row) : "";
  let before = own.slice(0, place.offset);
  for (let at = (isEnd ? rows.end[row] : row) - 1; at >= 0 && before.length < AROUND; at--) {
    if (isSent(rows, bits, at)) before = rows.text(at) + before;
  }
  let after = own.slice(place.offset);
  let message = "";
  for (let at = isEnd ? rows.end[row] : isText ? row + 1 : row; at < rows.count && after.length < AFTER; at++) {
    if (rows.kind(at) === "message" && has(bits, at)) {
      if (after !== "" || isEnd) break;
      message = `${rows.details(at).role}: `;
    }
    if (isSent(rows, bits, at)) after += rows.text(at);
  }
  const shown = isEnd ? "the message ends" : message + visible(after.slice(0, AFTER));
  return h(
    "figure",
    { class: "excerpt" },
    h("figcaption", {}, h("b", {}, side), ` ${visible(place.label ?? place.path)}`),
    h(
      "pre",
      { tabindex: 0 },
      h("span", { class: "shared" }, visible(before.length > AROUND ? `…${before.slice(-AROUND)}` : before)),
      isEnd ? h("span", { class: "chip" }, shown) : h("mark", {}, shown || " "),
    ),
  );
}

/**
 * Whether a row is text that is in.
 *
 * @param {Rows} rows
 * @param {Uint8Array} bits
 * @param {number} row
 */
function isSent(rows, bits, row) {
  return rows.isText(row) && has(bits, row) && !rows.isDropped(row);
}
