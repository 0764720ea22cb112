/** The tree of elements, of which only the rows in view are in the page: it can have any number of them. */

import { eachFrame, h } from "./dom.js";
import { oneLine, priorityText, visible } from "./format.js";

/** @typedef {import("./rows.js").Rows} Rows */

const SPARE = 8;
const INDENT = 14;
const SNIPPET = 90;

export class Tree {
  /**
   * @param {HTMLElement} root
   * @param {{hover: (row: number) => void, pick: (row: number) => void}} hooks
   */
  constructor(root, hooks) {
    this.root = root;
    this.hooks = hooks;
    /** @type {Rows | null} */
    this.rows = null;
    /** Rows that stand open in the list, in order. @type {number[]} */
    this.shown = [];
    /** The place in `shown` of each row. @type {Map<number, number>} */
    this.places = new Map();
    /** @type {Set<number>} */
    this.closed = new Set();
    /** @type {Set<number> | null} */
    this.found = null;
    this.current = -1;
    this.hovered = -1;
    /** 1 for rows that stand in the line of what holds them alone. */
    this.folded = new Uint8Array();
    /** How deep each line stands. */
    this.depth = new Int32Array();
    this.space = h("div", { class: "space", role: "presentation" });
    this.list = h("div", { class: "rows", role: "presentation" });
    this.space.append(this.list);
    root.append(this.space);
    this.draw = eachFrame(() => this.drawNow());
    root.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(root);
    root.addEventListener("pointerover", (event) => this.hooks.hover(this.#rowAt(event.target)));
    root.addEventListener("pointerleave", () => this.hooks.hover(-1));
    root.addEventListener("click", (event) => this.#click(event));
    root.addEventListener("keydown", (event) => this.#key(event));
  }

  /** @param {Rows} rows */
  show(rows) {
    this.rows = rows;
    this.#fold(rows);
    this.closed.clear();
    this.found = null;
    this.current = this.hovered = -1;
    this.root.scrollTop = 0;
    this.#list();
  }

  /** Where a row stands: a text that is all its element holds stands in the element's own line. @param {number} row */
  lineOf(row) {
    const rows = /** @type {Rows} */ (this.rows);
    let at = row;
    while (at >= 0 && !this.places.has(at)) at = rows.parent[at];
    return at;
  }

  /** @param {number} row */
  setHovered(row) {
    const line = row < 0 || this.rows === null ? -1 : this.lineOf(row);
    if (line === this.hovered) return;
    this.hovered = line;
    for (const element of this.list.children) {
      element.classList.toggle("hovered", Number(/** @type {HTMLElement} */ (element).dataset.row) === line);
    }
  }

  /**
   * Make a row the current one, and bring it into view.
   *
   * @param {number} row
   */
  select(row) {
    const rows = /** @type {Rows} */ (this.rows);
    let isOpened = false;
    for (let at = rows.parent[row]; at >= 0; at = rows.parent[at]) isOpened = this.closed.delete(at) || isOpened;
    if (isOpened) this.#list();
    // while the list is filtered, the row may stand in no line
    this.current = row;
    while (this.folded[this.current] || rows.kind(this.current) === "omitted") this.current = rows.parent[this.current];
    const place = this.places.get(this.current);
    if (place !== undefined) this.#toView(place);
    this.drawNow();
  }

  /**
   * Keep to the rows that are found, and what they stand in; null for all.
   *
   * @param {Set<number> | null} found
   */
  filter(found) {
    this.found = found;
    this.root.scrollTop = 0;
    this.#list();
  }

  // -- the list -------------------------------------------------------------------------------

  #list() {
    const rows = /** @type {Rows} */ (this.rows);
    const shown = [];
    const kept = this.found === null ? null : this.#around(this.found);
    for (let row = 0; row < rows.count; row++) {
      if (rows.isDropped(row) || this.folded[row] || rows.kind(row) === "omitted") continue;
      if (kept !== null && !kept.has(row)) continue;
      shown.push(row);
      if (this.closed.has(row)) row = rows.end[row] - 1;
    }
    this.shown = shown;
    this.places = new Map(shown.map((row, place) => [row, place]));
    this.drawNow();
  }

  /** @param {Set<number>} found */
  #around(found) {
    const rows = /** @type {Rows} */ (this.rows);
    const kept = new Set();
    for (const row of found) {
      for (let at = row; at >= 0 && !kept.has(at); at = rows.parent[at]) kept.add(at);
    }
    return kept;
  }

  /** A text that is all its element holds, or a message that is all its scope holds. @param {Rows} rows */
  #fold(rows) {
    this.folded = new Uint8Array(rows.count);
    this.depth = new Int32Array(rows.count);
    for (let row = 0; row < rows.count; row++) {
      const parent = rows.parent[row];
      if (parent < 0) continue;
      const isAlone = rows.children[parent] === 1;
      const isInLine = rows.isText(row) || (rows.kind(row) === "message" && rows.kind(parent) === "scope");
      this.folded[row] = isAlone && isInLine ? 1 : 0;
      this.depth[row] = this.depth[parent] + (this.folded[row] ? 0 : 1);
    }
  }

  /** The innermost row that stands in the line of this one. @param {number} row */
  #innermost(row) {
    const rows = /** @type {Rows} */ (this.rows);
    let at = row;
    while (rows.children[at] === 1 && this.folded[at + 1]) at += 1;
    return at;
  }

  /** @param {number} row */
  #hasRows(row) {
    return /** @type {Rows} */ (this.rows).children[this.#innermost(row)] > 0;
  }

  #rowHeight() {
    return Number.parseFloat(getComputedStyle(this.root).getPropertyValue("--row")) || 26;
  }

  drawNow() {
    if (this.rows === null) return;
    const height = this.#rowHeight();
    const total = this.shown.length;
    this.space.style.height = `${total * height}px`;
    const first = Math.max(0, Math.floor(this.root.scrollTop / height) - SPARE);
    const last = Math.min(total, Math.ceil((this.root.scrollTop + this.root.clientHeight) / height) + SPARE);
    this.list.style.transform = `translateY(${first * height}px)`;
    this.list.replaceChildren(...this.shown.slice(first, last).map((row) => this.#line(row)));
    const isSeen = this.current >= 0 && this.list.querySelector(`#row-${this.current}`) !== null;
    if (isSeen) this.root.setAttribute("aria-activedescendant", `row-${this.current}`);
    else this.root.removeAttribute("aria-activedescendant");
  }

  /** @param {number} row */
  #line(row) {
    const rows = /** @type {Rows} */ (this.rows);
    const kind = kindOf(rows, row);
    const inside = this.#innermost(row);
    const isIn = rows.isIn(row);
    const hasRows = this.#hasRows(row);
    const rank = rows.ranks[row];
    const name = rows.label(row) ?? rows.details(row).name ?? null;
    const roleInside = inside !== row && rows.kind(row) === "scope" ? rows.details(rows.isText(inside) ? inside - 1 : inside).role : undefined;
    const text = rows.isText(row) || !hasRows ? oneLine(rows.textOf(row, SNIPPET * 4), SNIPPET) : "";
    const priority = rank < 0 ? "" : priorityText(rows.elements.effective[row]);
    const classes = ["line", isIn ? "" : "out", row === this.hovered ? "hovered" : ""];
    const line = h(
      "div",
      {
        id: `row-${row}`,
        class: classes.filter(Boolean).join(" "),
        role: "treeitem",
        "data-row": row,
        "aria-level": this.depth[row] + 1,
        "aria-expanded": hasRows ? String(!this.closed.has(row)) : null,
        "aria-selected": String(row === this.current),
      },
      h("span", { class: hasRows ? "twist" : "twist none", "aria-hidden": "true" }),
      h("i", { class: `dot ${rank < 0 ? "required" : `rank-${rank}`}`, "aria-hidden": "true" }),
      name === null ? null : h("b", {}, oneLine(String(name), 60)),
      kind === "" ? null : h("span", { class: "kind" }, roleInside === undefined ? kind : `${kind} › ${roleInside}`),
      h("span", { class: "snippet" }, visible(text)),
      h("span", { class: "sr" }, isIn ? ", in" : ", out"),
      h("span", { class: "number" }, priority),
    );
    line.style.paddingInlineStart = `${6 + Math.min(this.depth[row], 12) * INDENT}px`;
    return line;
  }

  /** @param {number} place */
  #toView(place) {
    const height = this.#rowHeight();
    const top = place * height;
    const { scrollTop, clientHeight } = this.root;
    if (top < scrollTop || top + height > scrollTop + clientHeight) {
      this.root.scrollTop = Math.max(0, top - clientHeight / 3);
    }
  }

  // -- what a person does ---------------------------------------------------------------------

  /** @param {EventTarget | null} target */
  #rowAt(target) {
    const line = target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest(".line")) : null;
    return line === null ? -1 : Number(line.dataset.row);
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const row = this.#rowAt(event.target);
    if (row < 0) return;
    const isTwist = event.target instanceof Element && event.target.closest(".twist:not(.none)") !== null;
    if (isTwist) this.#toggle(row);
    else this.#pick(row);
  }

  /** @param {number} row */
  #pick(row) {
    this.current = row;
    this.#toView(this.places.get(row) ?? 0);
    this.drawNow();
    this.hooks.pick(row);
  }

  /** @param {number} row */
  #toggle(row) {
    if (!this.closed.delete(row)) this.closed.add(row);
    this.#list();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (this.rows === null || this.shown.length === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const place = this.places.get(this.current) ?? -1;
    const page = Math.max(1, Math.floor(this.root.clientHeight / this.#rowHeight()) - 1);
    /** @type {Record<string, number>} */
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.shown.length, End: this.shown.length };
    if (event.key in steps) {
      const next = Math.min(this.shown.length - 1, Math.max(0, place + steps[event.key]));
      this.#pick(this.shown[next]);
    } else if (event.key === "ArrowRight" && place >= 0) {
      if (this.closed.has(this.current)) this.#toggle(this.current);
      else if (this.#hasRows(this.current) && place + 1 < this.shown.length) this.#pick(this.shown[place + 1]);
    } else if (event.key === "ArrowLeft" && place >= 0) {
      if (this.#hasRows(this.current) && !this.closed.has(this.current)) this.#toggle(this.current);
      else if (this.rows.parent[this.current] >= 0) this.#pick(this.lineOf(this.rows.parent[this.current]));
    } else if ((event.key === "Enter" || event.key === " ") && place >= 0) {
      this.hooks.pick(this.current);
    } else {
      return;
    }
    event.preventDefault();
  }
}

/**
 * What a line says of the kind: a message's is its role.
 *
 * @param {Rows} rows
 * @param {number} row
 */
function kindOf(rows, row) {
  const kind = rows.kind(row);
  if (kind === "text") return "";
  return kind === "message" ? String(rows.details(row).role ?? "message") : kind.replaceAll("_", " ");
}
