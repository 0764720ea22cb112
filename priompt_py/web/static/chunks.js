/** Pieces of text in chunks, which the browser lays out only when they come into view. */

import { h } from "./dom.js";

/** A chunk ends at the first end of a line after so many pieces or characters… */
const PIECES = 40;
const CHARACTERS = 4_000;
/** …and in any case after so many pieces. */
const MOST_PIECES = 1_000;

/** Puts pieces into chunks that end where a line ends. */
export class Chunks {
  /** @param {HTMLElement} body */
  constructor(body) {
    this.body = body;
    /** @type {HTMLElement | null} */
    this.chunk = null;
    this.pieces = 0;
    this.characters = 0;
  }

  /**
   * @param {HTMLElement} piece
   * @param {string} text
   * @param {HTMLElement | null} more
   */
  add(piece, text, more) {
    if (this.chunk === null) {
      this.chunk = h("div", { class: "chunk" });
      this.body.append(this.chunk);
      this.pieces = this.characters = 0;
    }
    this.chunk.append(piece);
    if (more) this.chunk.append(more);
    this.pieces += 1;
    this.characters += text.length;
    const isFull = this.pieces >= PIECES || this.characters >= CHARACTERS;
    if ((isFull && text.endsWith("\n")) || this.pieces >= MOST_PIECES) this.chunk = null;
  }
}
