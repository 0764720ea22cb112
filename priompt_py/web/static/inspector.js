/** What is known of the element under the pointer, or of the one that was picked. */

import { get } from "./api.js";
import { afterwards, h } from "./dom.js";
import { grouped, priorityText, REASONS, tokensText, visible } from "./format.js";

/** @typedef {import("./rows.js").Rows} Rows */

const REST = 120; // milliseconds that the pointer rests before the server is asked

export class Inspector {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {Rows | null} */
    this.rows = null;
    /** @type {string | null} */
    this.view = null;
    this.limit = 0;
    this.row = -1;
    /** @type {AbortController | null} */
    this.asking = null;
    this.ask = afterwards(REST, () => this.#ask());
  }

  /**
   * @param {Rows} rows
   * @param {string | null} view
   */
  open(rows, view) {
    this.rows = rows;
    this.view = view;
    this.show(-1);
  }

  close() {
    this.rows = null;
    this.show(-1);
  }

  /** @param {number} limit */
  move(limit) {
    this.limit = limit;
    if (this.row >= 0) this.#draw(null);
    if (this.row >= 0) this.ask();
  }

  /** @param {number} row */
  show(row) {
    if (row === this.row && row >= 0) return;
    this.row = row;
    this.asking?.abort();
    this.root.hidden = this.rows === null;
    if (this.rows === null) return;
    this.#draw(null);
    if (row >= 0) this.ask();
  }

  async #ask() {
    if (this.row < 0 || this.view === null) return;
    const row = this.row;
    this.asking?.abort();
    this.asking = new AbortController();
    try {
      const query = { row, limit: this.limit };
      const found = await get(`views/${encodeURIComponent(this.view)}/element`, query, this.asking.signal);
      if (row === this.row) this.#draw(found);
    } catch {
      // the facts that the page has itself stay
    }
  }

  /** @param {any} found what the server knows, or null */
  #draw(found) {
    const rows = /** @type {Rows} */ (this.rows);
    const row = this.row;
    if (row < 0) {
      const hint = "Point at a text or an element to see where it comes from.";
      this.root.replaceChildren(h("p", { class: "hint" }, hint));
      return;
    }
    const isIn = rows.isIn(row);
    const priority = rows.elements.effective[row];
    const name = rows.label(row);
    const why = found?.why ?? (isIn ? REASONS.included : (REASONS[found?.reason] ?? "left out"));
    this.root.replaceChildren(
      h(
        "p",
        { class: "first" },
        h("i", { class: `dot ${rows.ranks[row] < 0 ? "required" : `rank-${rows.ranks[row]}`} ${isIn ? "" : "out"}`, "aria-hidden": "true" }),
        h("b", {}, isIn ? "in" : "out"),
        name === null ? null : h("span", { class: "name" }, visible(name)),
        h("span", {}, rows.ranks[row] < 0 ? "required" : `priority ${priorityText(priority)}`),
        found ? h("span", {}, tokensText(found.tokens)) : null,
        found ? h("span", { class: "why" }, visible(why)) : null,
        found ? h("span", { class: "ranges" }, rangesText(found)) : null,
      ),
      h("p", { class: "path", title: rows.path(row) }, h("bdi", {}, visible(rows.path(row)))),
    );
  }
}

/** @param {{ranges: [number, number | null][] | null}} found ranges are not known where limits are relative */
function rangesText({ ranges }) {
  if (ranges === null) return "";
  if (ranges.length === 0) return "in at no limit";
  const parts = ranges.slice(0, 3).map(([start, end]) => {
    return end === null ? `from ${grouped(start)}` : `${grouped(start)} to ${grouped(end - 1)}`;
  });
  return `in at limits ${parts.join(", ")}${ranges.length > 3 ? ", …" : ""}`;
}
