/**
 * The text of the prompt. All of it is in the page at once, in chunks that the browser lays out only when they come
 * into view; a move of the slider changes classes of the pieces that come in or go out, and moves no text.
 */

import { Chunks } from "./chunks.js";
import { afterwards, h } from "./dom.js";
import { grouped, plain, visible } from "./format.js";
import { classOf, facts, toldOf } from "./told.js";

/** @typedef {import("./rows.js").Rows} Rows */

const supportsHighlights = typeof Highlight === "function" && "highlights" in CSS;

export class TextPane {
  /**
   * @param {HTMLElement} root
   * @param {{hover: (row: number) => void, pick: (row: number) => void, whole: (row: number) => Promise<string>}} hooks
   */
  constructor(root, hooks) {
    this.root = root;
    this.hooks = hooks;
    /** @type {Rows | null} */
    this.rows = null;
    /** @type {(HTMLElement | undefined)[]} */
    this.pieces = [];
    /** @type {Map<number, number[]> | null} */
    this.tokens = null;
    /** @type {Set<Element>} */
    this.inView = new Set();
    this.observer = new IntersectionObserver((seen) => this.#see(seen), { root, rootMargin: "200px" });
    this.drawTokens = afterwards(30, () => this.#drawTokens());
    root.addEventListener("pointerover", (event) => this.hooks.hover(rowOf(event.target)));
    root.addEventListener("pointerleave", () => this.hooks.hover(-1));
    root.addEventListener("click", (event) => {
      const row = rowOf(event.target);
      if (row >= 0 && String(getSelection()) === "") this.hooks.pick(row);
    });
  }

  /**
   * Draw a prompt anew.
   *
   * @param {Rows} rows
   * @param {boolean} isChat
   */
  show(rows, isChat) {
    this.observer.disconnect();
    this.inView.clear();
    this.clearMarks();
    this.rows = rows;
    this.pieces = new Array(rows.count);
    this.tokens = null;
    const parts = document.createDocumentFragment();
    let row = 0;
    while (row < rows.count) {
      // what stands outside messages goes together up to the next one
      const message = isChat ? messageFrom(rows, row) : rows.count;
      if (message > row) {
        const outside = this.#section(-1, row, message, isChat);
        if (outside) parts.append(outside);
      }
      row = message;
      if (row < rows.count) {
        parts.append(/** @type {HTMLElement} */ (this.#section(row, row + 1, rows.end[row], isChat)));
        row = rows.end[row];
      }
    }
    if (!parts.hasChildNodes()) parts.append(h("p", { class: "hint nothing" }, "This prompt has no text."));
    this.root.replaceChildren(parts);
    this.root.scrollTop = 0;
    for (const chunk of this.root.querySelectorAll(".chunk")) this.observer.observe(chunk);
    for (let at = 0; at < rows.count; at++) this.#turn(at);
  }

  /** Show nothing. */
  clear() {
    this.observer.disconnect();
    this.inView.clear();
    this.clearMarks();
    this.rows = null;
    this.pieces = [];
    this.root.replaceChildren();
  }

  /**
   * Follow the slider.
   *
   * @param {number[]} changed rows that came in or went out
   */
  update(changed) {
    for (const row of changed) this.#turn(row);
  }

  /** @param {number} row */
  #turn(row) {
    const piece = this.pieces[row];
    if (piece !== undefined) piece.classList.toggle("out", !/** @type {Rows} */ (this.rows).isIn(row));
  }

  // -- drawing --------------------------------------------------------------------------------

  /**
   * @param {number} message the message's row, or -1
   * @param {number} start
   * @param {number} end
   * @param {boolean} isChat
   */
  #section(message, start, end, isChat) {
    const rows = /** @type {Rows} */ (this.rows);
    const body = h("div", { class: "body" });
    const chunks = new Chunks(body);
    for (let row = start; row < end; row++) this.#piece(row, chunks, isChat && message < 0);
    if (message < 0) {
      if (!body.hasChildNodes()) return null;
      const head = isChat ? h("header", {}, h("span", { class: "role outside" }, "outside messages")) : null;
      return h("section", { class: isChat ? "message" : "message plain" }, head, body);
    }
    const details = rows.details(message);
    for (const call of details.tool_calls ?? []) {
      const shown = `${call.name}(${visible(String(plain(call.arguments)))})`;
      body.append(h("p", { class: "chip call", "data-row": message }, h("b", {}, "calls "), shown));
    }
    if (!body.hasChildNodes()) body.append(h("p", { class: "hint" }, "(empty)"));
    const section = h(
      "section",
      { class: `message ${classOf(rows, message)}`, "data-row": message },
      h("header", {}, this.#roleOf(message), facts(rows, message)),
      body,
    );
    this.pieces[message] = section;
    return section;
  }

  /** @param {number} message */
  #roleOf(message) {
    const role = /** @type {Rows} */ (this.rows).details(message).role;
    return h("span", { class: `role ${role}` }, role ?? "message");
  }

  /**
   * @param {number} row
   * @param {Chunks} chunks
   * @param {boolean} isOutside
   */
  #piece(row, chunks, isOutside) {
    const rows = /** @type {Rows} */ (this.rows);
    const kind = rows.kind(row);
    if (rows.isText(row)) {
      if (isOutside) return; // blank text between messages, which is dropped
      const text = rows.text(row);
      if (!text) return;
      const mark = kind === "omitted" ? "piece omitted" : "piece";
      const piece = h("span", { class: `${mark} ${classOf(rows, row)}`, "data-row": row }, visible(text));
      this.pieces[row] = piece;
      const whole = rows.elements.cut[row];
      chunks.add(piece, text, whole === undefined ? null : this.#more(row, text.length, whole, piece));
      return;
    }
    const told = toldOf(kind, rows.details(row));
    if (told === null) return;
    const chip = h("span", { class: `chip ${kind} ${classOf(rows, row)}`, "data-row": row }, ...told);
    this.pieces[row] = chip;
    chunks.add(chip, "", null);
  }

  /**
   * What is said of a text that was cut, with a button that brings the rest.
   *
   * @param {number} row
   * @param {number} shown
   * @param {number} whole
   * @param {HTMLElement} piece
   */
  #more(row, shown, whole, piece) {
    const button = h("button", { type: "button", class: "quiet more" }, `${grouped(whole - shown)} more characters`);
    button.addEventListener("click", async (event) => {
      event.stopPropagation();
      button.disabled = true;
      try {
        piece.textContent = visible(await this.hooks.whole(row));
        button.remove();
      } catch {
        button.disabled = false;
      }
    });
    return button;
  }

  // -- marks ----------------------------------------------------------------------------------

  /**
   * Mark what comes from an element; a negative row takes the mark away.
   *
   * @param {number} row
   * @param {"hovered" | "picked"} name
   */
  mark(row, name) {
    const range = row < 0 ? null : this.#rangeOf(row);
    if (supportsHighlights) {
      if (range) CSS.highlights.set(name, new Highlight(range));
      else CSS.highlights.delete(name);
    }
    for (const old of this.root.querySelectorAll(`.${name}`)) old.classList.remove(name);
    const element = row < 0 ? undefined : this.#nearest(row);
    if (element !== undefined && !element.classList.contains("piece")) element.classList.add(name);
  }

  clearMarks() {
    if (!supportsHighlights) return;
    for (const name of ["hovered", "picked", "token-a", "token-b", "difference"]) CSS.highlights.delete(name);
  }

  /** @param {number} row */
  #rangeOf(row) {
    const rows = /** @type {Rows} */ (this.rows);
    let first, last;
    for (let at = row; at < rows.end[row]; at++) {
      const piece = this.pieces[at];
      if (piece === undefined || !piece.classList.contains("piece")) continue;
      first ??= piece;
      last = piece;
    }
    if (first === undefined || last === undefined) return null;
    const range = document.createRange();
    range.setStartBefore(first);
    range.setEndAfter(last);
    return range;
  }

  /** @param {number} row */
  #nearest(row) {
    const rows = /** @type {Rows} */ (this.rows);
    for (let at = row; at < rows.end[row]; at++) if (this.pieces[at] !== undefined) return this.pieces[at];
    for (let at = rows.parent[row]; at >= 0; at = rows.parent[at]) {
      if (this.pieces[at] !== undefined) return this.pieces[at];
    }
    return undefined;
  }

  /**
   * Bring an element's text into view.
   *
   * @param {number} row
   */
  reveal(row) {
    const element = this.rows === null ? undefined : this.#nearest(row);
    if (element === undefined) return;
    const inside = this.root.getBoundingClientRect();
    const box = element.getBoundingClientRect();
    if (box.top >= inside.top && box.bottom <= inside.bottom) return;
    element.scrollIntoView({ block: box.height > inside.height * 0.7 ? "start" : "center" });
  }

  /**
   * Mark where another render parts from this one.
   *
   * @param {number} row
   * @param {number} offset UTF-16 units in the row's text
   */
  markDifference(row, offset) {
    const node = this.pieces[row]?.firstChild;
    if (!(node instanceof Text) || !supportsHighlights) return;
    const range = document.createRange();
    range.setStart(node, Math.min(offset, node.length));
    range.setEnd(node, node.length);
    CSS.highlights.set("difference", new Highlight(range));
  }

  // -- tokens ---------------------------------------------------------------------------------

  /**
   * Show where tokens begin, or no longer.
   *
   * @param {[number, number[]][] | null} starts for each row the places in its text
   */
  showTokens(starts) {
    this.tokens = starts === null ? null : new Map(starts);
    this.root.classList.toggle("with-tokens", starts !== null);
    this.#drawTokens();
  }

  /** @param {IntersectionObserverEntry[]} seen */
  #see(seen) {
    for (const { target, isIntersecting } of seen) {
      if (isIntersecting) this.inView.add(target);
      else this.inView.delete(target);
    }
    if (this.tokens !== null) this.drawTokens();
  }

  /** Tokens of what is in view, in two tones by turns. */
  #drawTokens() {
    if (!supportsHighlights) return;
    /** @type {[StaticRange[], StaticRange[]]} */
    const tones = [[], []];
    if (this.tokens !== null && this.rows !== null) {
      const chunks = [...this.inView].sort((a, b) => (a.compareDocumentPosition(b) & 4 ? -1 : 1));
      let tone = 1; // the first token takes the other one
      for (const chunk of chunks) {
        for (const piece of /** @type {NodeListOf<HTMLElement>} */ (chunk.querySelectorAll(".piece:not(.out)"))) {
          const node = piece.firstChild;
          if (!(node instanceof Text)) continue;
          const starts = this.tokens.get(Number(piece.dataset.row)) ?? [];
          let from = 0;
          for (const at of [...starts, node.length]) {
            const to = Math.min(at, node.length);
            if (to > from) tones[tone].push(rangeIn(node, from, to));
            if (at < node.length) tone = 1 - tone;
            from = to;
          }
        }
      }
    }
    tones.forEach((ranges, tone) => CSS.highlights.set(tone ? "token-b" : "token-a", new Highlight(...ranges)));
  }
}

/**
 * @param {Rows} rows
 * @param {number} start
 */
function messageFrom(rows, start) {
  let row = start;
  while (row < rows.count && rows.kind(row) !== "message") row += 1;
  return row;
}

/**
 * @param {Text} node
 * @param {number} start
 * @param {number} end
 */
function rangeIn(node, start, end) {
  return new StaticRange({ startContainer: node, startOffset: start, endContainer: node, endOffset: end });
}

/** @param {EventTarget | null} target */
function rowOf(target) {
  const element = target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest("[data-row]")) : null;
  return element === null ? -1 : Number(element.dataset.row);
}
