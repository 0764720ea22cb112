/** The prompt that is shown: its rows in document order, and which of them are in at a position of the slider. */

import { BASE } from "./format.js";

/**
 * @typedef {Object} Elements what the server sends of a prompt's tree, as columns
 * @property {number} count
 * @property {string[]} kinds
 * @property {number[]} kind
 * @property {number[]} parent
 * @property {string[]} segment
 * @property {(string | null)[]} label
 * @property {(number | string)[]} priority
 * @property {(number | string)[]} effective
 * @property {(string | null)[]} text
 * @property {Record<string, number>} cut
 * @property {Record<string, any>} details
 *
 * @typedef {Object} Position what the server answers to a move
 * @property {number} [seq]
 * @property {number} limit
 * @property {number} level
 * @property {number} levels
 * @property {number | string} cutoff
 * @property {boolean} fits
 * @property {number | null} required
 * @property {number} used
 * @property {number} reserved
 * @property {number} free
 * @property {string} bits
 * @property {number} elements_in
 * @property {number} elements_out
 */

/** How many colours priorities have. */
export const RANKS = 5;

/** Kinds whose text is the prompt's. */
const TEXTS = new Set(["text", "br", "hr", "omitted"]);

export class Rows {
  /** @param {Elements} elements */
  constructor(elements) {
    const count = elements.count;
    this.elements = elements;
    this.count = count;
    this.parent = Int32Array.from(elements.parent);
    /** Depth of each row; 0 for those that stand in nothing. */
    this.depth = new Int32Array(count);
    /** The row after the last one inside each row. */
    this.end = new Int32Array(count);
    /** How many rows stand in each row itself. */
    this.children = new Int32Array(count);
    for (let row = 0; row < count; row++) {
      const parent = this.parent[row];
      if (parent < 0) continue;
      this.depth[row] = this.depth[parent] + 1;
      this.children[parent] += 1;
    }
    for (let row = count - 1; row >= 0; row--) {
      this.end[row] = Math.max(this.end[row], row + 1);
      const parent = this.parent[row];
      if (parent >= 0) this.end[parent] = Math.max(this.end[parent], this.end[row]);
    }
    this.ranks = this.#ranks();
    /** Bit n is 1 where row n is in. */
    this.bits = new Uint8Array((count + 7) >> 3);
  }

  /** Colours: required rows have none (-1), the others one by the order of their priorities. */
  #ranks() {
    const effective = this.elements.effective.map(Number);
    const levels = [...new Set(effective.filter((priority) => priority < BASE))].sort((a, b) => b - a);
    const rankOf = new Map(levels.map((level, number) => [level, Math.floor((number * RANKS) / levels.length)]));
    return Int8Array.from(effective, (priority) => rankOf.get(priority) ?? -1);
  }

  /** @param {number} row */
  kind(row) {
    return this.elements.kinds[this.elements.kind[row]];
  }

  /** @param {number} row */
  isText(row) {
    return TEXTS.has(this.kind(row));
  }

  /** @param {number} row */
  isDropped(row) {
    return this.elements.details[row]?.dropped === true;
  }

  /** @param {number} row */
  isIn(row) {
    return (this.bits[row >> 3] & (1 << (row & 7))) !== 0;
  }

  /** @param {number} row */
  text(row) {
    return this.elements.text[row] ?? "";
  }

  /** @param {number} row */
  details(row) {
    return this.elements.details[row] ?? {};
  }

  /** @param {number} row */
  label(row) {
    return this.elements.label[row];
  }

  /** @param {number} row */
  path(row) {
    const parts = [];
    for (let at = row; at >= 0; at = this.parent[at]) parts.push(this.elements.segment[at]);
    return ["root", ...parts.reverse()].join(" > ");
  }

  /**
   * The texts inside a row, in order, those that blank space between messages is made of left out.
   *
   * @param {number} row
   * @param {number} most characters
   */
  textOf(row, most) {
    let text = "";
    for (let at = row; at < this.end[row] && text.length < most; at++) {
      if (this.isText(at)) text += this.text(at);
    }
    return text;
  }

  /**
   * Rows with some words, in lower case, in their label, role, kind or own text.
   *
   * @param {string} words
   */
  find(words) {
    /** @type {Set<number>} */
    const found = new Set();
    for (let row = 0; row < this.count; row++) {
      if (this.isDropped(row)) continue;
      const about = [this.label(row) ?? "", this.details(row).role ?? "", this.kind(row), this.text(row)];
      if (about.join("\n").toLowerCase().includes(words)) found.add(row);
    }
    return found;
  }

  /**
   * Take over what is in, and give the rows for which that has changed.
   *
   * @param {string} base64
   * @returns {number[]}
   */
  take(base64) {
    const before = this.bits;
    this.bits = bitsOf(base64, before.length);
    const changed = [];
    for (let byte = 0; byte < before.length; byte++) {
      let difference = before[byte] ^ this.bits[byte];
      for (let row = byte << 3; difference; row++, difference >>= 1) if (difference & 1) changed.push(row);
    }
    return changed;
  }
}

/**
 * @param {string} base64
 * @param {number} length bytes
 */
export function bitsOf(base64, length) {
  const binary = atob(base64);
  const bytes = new Uint8Array(length);
  for (let n = 0; n < Math.min(length, binary.length); n++) bytes[n] = binary.charCodeAt(n);
  return bytes;
}
