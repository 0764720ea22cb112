/** What the server tells: changed files, new dumps, questions, and that it is gone or back. */

import { ApiError } from "./api.js";
import { toast } from "./toast.js";

/** @typedef {import("./app.js").App} App */

/**
 * @param {App} app
 * @param {string} name of the event
 * @param {any} data
 */
export function heard(app, name, data) {
  const { server } = app;
  switch (name) {
    case "hello":
      app.server = data.started;
      if (server === null || server === data.started) return;
      app.compare.forget();
      app.listed(() => app.reopen());
      return;
    case "prompts":
      app.listed(() => app.prompt === null && app.question === null && app.first());
      return;
    case "changed":
      app.compare.forget();
      app.listed(() => app.question === null && app.reopen());
      toast(`Changed: ${data.files.join(", ")}`);
      return;
    case "questions":
      questionsWait(app, data.questions);
      return;
    case "closing":
      lost(app, true, null);
  }
}

/**
 * @param {App} app
 * @param {import("./sidebar.js").Question[]} questions
 */
function questionsWait(app, questions) {
  app.sidebar.showQuestions(questions);
  app.questions = questions;
  const isOver = app.question !== null && !questions.some((one) => one.id === app.question);
  const isFree = isOver || (app.prompt === null && app.question === null);
  if (isFree && questions.length > 0) app.openQuestion(questions[0].id);
  else if (isOver) app.answer.over();
}

/**
 * The connection is gone, or back.
 *
 * @param {App} app
 * @param {boolean} isLost
 * @param {unknown} error
 */
export function lost(app, isLost, error) {
  const wasLost = document.body.classList.contains("lost");
  document.body.classList.toggle("lost", isLost);
  if (!isLost && !wasLost) return; // a stream may end and begin anew at any time
  if (isLost && error instanceof ApiError && error.status === 401) app.refused(error);
  else app.working.tell(isLost ? "The server does not answer; trying again…" : "");
}
