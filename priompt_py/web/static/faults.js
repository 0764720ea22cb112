/** How errors are shown: where, what, what would do; the traceback folded. */

import { h, icon } from "./dom.js";
import { visible } from "./format.js";
import { ApiError } from "./api.js";

/** @typedef {import("./api.js").Fault} Fault */

/** @type {Record<string, string>} */
const HEADS = {
  prompt: "The prompt could not be rendered",
  time: "The prompt's code took too long",
  busy: "All workers are busy",
  stopping: "The server stops",
  away: "The server does not answer",
  gone: "This view is gone",
  answered: "This question waits no more",
  unknown: "That is not there any more",
  large: "That is too large",
  token: "This page has no access",
};

/**
 * @param {unknown} error
 * @returns {Fault}
 */
export function faultOf(error) {
  if (error instanceof ApiError) return error.fault;
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const traceback = error instanceof Error ? (error.stack ?? null) : null;
  return { kind: "page", message, place: null, notes: [], traceback };
}

/** @param {unknown} error */
export function wasAborted(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

/**
 * A card that tells of an error.
 *
 * @param {Fault} fault
 * @param {{head?: string, actions?: HTMLElement[]}} [more]
 */
export function faultCard(fault, { head, actions = [] } = {}) {
  return h(
    "div",
    { class: "fault", role: "alert" },
    h("h2", {}, icon("warn"), head ?? HEADS[fault.kind] ?? "Something went wrong"),
    fault.place ? h("p", { class: "place" }, h("code", {}, visible(fault.place))) : null,
    h("pre", { class: "message" }, visible(fault.message)),
    ...fault.notes.map((note) => h("p", { class: "note" }, visible(note))),
    fault.printed ? folded("What it printed", fault.printed) : null,
    fault.traceback ? folded("Traceback", fault.traceback) : null,
    actions.length > 0 ? h("p", { class: "actions" }, ...actions) : null,
  );
}

/**
 * @param {string} title
 * @param {string} text
 */
export function folded(title, text) {
  return h("details", { class: "folded" }, h("summary", {}, title), h("pre", { tabindex: 0 }, visible(text)));
}
