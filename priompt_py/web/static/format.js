/** Numbers and characters as people read them. */

const NUMBERS = new Intl.NumberFormat("en-US");

/** What stands in no scope has this priority. */
export const BASE = 1_000_000_000;

const NEAR = 1_000_000;

/**
 * @param {number} number
 * @returns {string}
 */
export function grouped(number) {
  return NUMBERS.format(number);
}

/**
 * @param {number} tokens
 * @param {boolean} [isEstimate]
 * @returns {string}
 */
export function tokensText(tokens, isEstimate = false) {
  return `${isEstimate ? "≈ " : ""}${grouped(tokens)} ${tokens === 1 ? "token" : "tokens"}`;
}

/**
 * A priority; those near the base are told from there. Whole numbers beyond 2^53 come as text.
 *
 * @param {number | string} priority
 * @returns {string}
 */
export function priorityText(priority) {
  const number = Number(priority);
  if (number >= BASE) return "required";
  if (number >= BASE - NEAR) return `base−${Number((BASE - number).toPrecision(15))}`;
  return String(priority).replace("-", "−");
}

/** @type {Record<string, string>} */
export const REASONS = {
  included: "included",
  below_cutoff: "below the cutoff",
  parent_out: "what is around it is out",
  not_chosen: "another alternative is in",
  over_max: "over its ceiling",
  pair_out: "its call or result is out",
};

/** Controls, marks of direction, tags, and others that would not be seen or would change what is seen. */
const UNSEEN = /\udb40[\udc00-\udc7f]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/**
 * Text with a sign for each character that would not be seen. The number of UTF-16 units stays the same.
 *
 * @param {string} text
 * @returns {string}
 */
export function visible(text) {
  return text.replace(UNSEEN, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "␡" : "◌".repeat(character.length);
  });
}

/**
 * The first characters of a text in one line; blank text is told by signs.
 *
 * @param {string} text
 * @param {number} most
 * @returns {string}
 */
export function oneLine(text, most) {
  const line = visible(text.slice(0, most * 4).replace(/\s+/g, " ").trim());
  if (line === "") return text.slice(0, most).replaceAll("\n", "↵").replaceAll(/\s/g, "␣");
  return line.length > most || text.length > most * 4 ? `${line.slice(0, most).trimEnd()}…` : line;
}

/**
 * A value that the server sends with what it is: as JSON, or as Python writes it.
 *
 * @param {any} value
 * @returns {any}
 */
export function plain(value) {
  return value?.json ?? value?.repr ?? value;
}
