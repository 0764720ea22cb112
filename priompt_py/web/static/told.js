/** What is said of elements that are no text, and of messages beside their role. */

import { h, icon } from "./dom.js";
import { plain, priorityText, tokensText, visible } from "./format.js";

/** @typedef {import("./rows.js").Rows} Rows */

/**
 * @param {Rows} rows
 * @param {number} row
 */
export function classOf(rows, row) {
  return rows.ranks[row] < 0 ? "required" : `rank-${rows.ranks[row]}`;
}

/**
 * What the head of a message says beside its role.
 *
 * @param {Rows} rows
 * @param {number} row
 */
export function facts(rows, row) {
  const { name, to, tool_call_id: call, is_error: isError } = rows.details(row);
  const told = [];
  if (name) told.push(visible(name));
  if (to) told.push(`to ${visible(to)}`);
  if (call) told.push(`answers ${visible(call)}`);
  if (isError) told.push("error");
  const label = rows.label(row);
  if (label) told.push(visible(label));
  const priority = rows.elements.effective[row];
  if (rows.ranks[row] >= 0) told.push(priorityText(priority));
  return h("span", { class: "facts" }, told.join(" · "));
}

/**
 * What is shown of an element that is no text; null of one of which nothing is.
 *
 * @param {string} kind
 * @param {any} details
 * @returns {(Node | string)[] | null}
 */
export function toldOf(kind, details) {
  const head = h("b", {}, kind.replaceAll("_", " "));
  if (typeof details.told === "string") return [head, ` ${visible(details.told)}`]; // of a question
  switch (kind) {
    case "empty":
      return [head, ` ${tokensText(details.tokens ?? 0)} reserved`];
    case "image": {
      const size = details.dimensions ? ` ${details.dimensions[0]}×${details.dimensions[1]}` : "";
      return [head, ` ${visible(String(details.source ?? ""))}${size}, detail ${details.detail ?? "auto"}`];
    }
    case "part":
      return [head, ` for ${visible(String(details.provider))}`];
    case "config":
      return [head, ` ${visible(configText(details))}`];
    case "capture":
      return [head, ` ${(details.handlers ?? []).join(", ")}`];
    case "tool_definition":
      return [head, ` ${visible(String(details.name))}: ${visible(String(details.description ?? ""))}`];
    case "cache_break":
      return [icon("copy"), " cache mark"];
    default:
      return null;
  }
}

/** @param {Record<string, unknown>} details */
function configText(details) {
  const given = Object.entries(details).filter(([, value]) => value !== null && value !== undefined);
  return given.map(([name, value]) => `${name} = ${JSON.stringify(plain(value))}`).join(", ");
}
