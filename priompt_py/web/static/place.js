/** What is shown, kept in the address: a reload, a bookmark or a second tab shows the same. */

/**
 * @typedef {Object} Place
 * @property {string | null} prompt
 * @property {string | null} example
 * @property {string | null} question
 * @property {number | null} limit
 * @property {string | null} tab
 */

/** @returns {Place} */
export function placeOfAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const limit = Number(given.get("limit") ?? Number.NaN);
  return {
    prompt: given.get("prompt"),
    example: given.get("example"),
    question: given.get("question"),
    limit: Number.isSafeInteger(limit) && limit >= 0 ? limit : null,
    tab: given.get("tab"),
  };
}

const SELDOM = 350; // milliseconds: Safari refuses more than a hundred changes of the address in half a minute
let last = -SELDOM;
let timer = 0;

/** @param {Place} place */
export function keepPlace(place) {
  clearTimeout(timer);
  const wait = last + SELDOM - performance.now();
  if (wait > 0) {
    timer = setTimeout(keepPlace, wait, place);
    return;
  }
  last = performance.now();
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(place)) if (value !== null) given.set(name, String(value));
  history.replaceState(null, "", `#${given}`);
}

/**
 * Props that were edited, kept for this tab of the browser.
 *
 * @param {string} key
 * @returns {string | null}
 */
export function draft(key) {
  try {
    return sessionStorage.getItem(`priompt:${key}`);
  } catch {
    return null;
  }
}

/**
 * @param {string} key
 * @param {string | null} text
 */
export function keepDraft(key, text) {
  try {
    if (text === null) sessionStorage.removeItem(`priompt:${key}`);
    else sessionStorage.setItem(`priompt:${key}`, text);
  } catch {
    // more than the browser keeps: then a reload loses it
  }
}
