/** Buttons, fields and keys of the page as a whole. */

import { takeToken } from "./api.js";
import { afterwards, byId } from "./dom.js";
import { startKeys } from "./help.js";
import { placeOfAddress } from "./place.js";

/** @param {import("./app.js").App} app */
export function startControls(app) {
  const menu = byId("menu", HTMLButtonElement);
  menu.addEventListener("click", () => {
    app.menu(menu.getAttribute("aria-expanded") !== "true");
    if (document.body.classList.contains("menu")) byId("sidebar", HTMLElement).focus();
  });
  document.addEventListener("pointerdown", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (target && !target.closest("#sidebar, #menu")) app.menu(false);
  });
  byId("skip", HTMLButtonElement).addEventListener("click", () => byId("text", HTMLElement).focus());
  byId("waiting", HTMLButtonElement).addEventListener("click", () => {
    if (app.questions.length > 0) app.openQuestion(app.questions[0].id);
  });
  byId("find", HTMLInputElement).addEventListener("input", afterwards(80, () => app.find(byId("find", HTMLInputElement).value)));
  matchMedia("(min-width: 900px)").addEventListener("change", ({ matches }) => {
    if (matches && app.tabs.current === "prompt") app.tabs.select("elements");
  });
  addEventListener("hashchange", () => {
    if (takeToken()) {
      location.reload(); // the page may have had no access, or that of an earlier server
      return;
    }
    const { prompt, example, question, limit } = placeOfAddress();
    if (question !== null) app.openQuestion(question);
    else if (prompt !== null && (prompt !== app.prompt || example !== app.example)) app.open(prompt, example, limit);
    else if (prompt !== null && limit !== null && app.view !== null) app.mover.to({ limit });
  });
  /** @param {string} tab @param {string} id */
  const focusOn = (tab, id) => () => {
    app.tabs.select(tab);
    byId(id, HTMLElement).focus();
  };
  startKeys({
    l: () => app.deck.limit.focus(),
    "[": () => app.deck.stepLevel(-1),
    "]": () => app.deck.stepLevel(1),
    j: () => app.step(1),
    k: () => app.step(-1),
    o: () => byId("show-out", HTMLInputElement).click(),
    t: () => byId("show-tokens", HTMLInputElement).click(),
    e: focusOn("elements", "tree"),
    p: focusOn("props", "props-editor"),
    a: focusOn("answer", "answer-text"),
    "/": () => {
      if (menu.offsetParent !== null) app.menu(true);
      const filter = byId("filter", HTMLInputElement);
      if (filter.offsetParent !== null) filter.focus();
      else /** @type {HTMLElement | null} */ (document.querySelector("#prompts button"))?.focus();
    },
    Escape: () => app.release(),
  });
}
