/** Waiting for the server: told after a moment, and then it can be stopped. */

import { post } from "./api.js";
import { byId, setText } from "./dom.js";
import { wasAborted } from "./faults.js";

const SHOWN = 200; // milliseconds until it is told
const STOPPABLE = 2_000; // until it can be stopped

export class Working {
  constructor() {
    this.said = byId("working", HTMLElement);
    this.stop = byId("stop", HTMLButtonElement);
    /** @type {AbortController | null} */
    this.present = null;
  }

  /** @param {string} text */
  tell(text) {
    setText(this.said, text);
  }

  /**
   * Wait for some work; what was waited for before is given up.
   *
   * @param {string | null} prompt whose code runs, and can be stopped
   * @param {(signal: AbortSignal) => Promise<any>} work
   * @returns {Promise<any>} its result, or the error that it ended with; undefined where it was given up
   */
  async wait(prompt, work) {
    this.present?.abort();
    const present = new AbortController();
    this.present = present;
    const tell = setTimeout(() => {
      document.body.classList.add("waiting");
      this.tell("Rendering…");
    }, SHOWN);
    const offer = setTimeout(() => {
      this.tell("The prompt's code is still running…");
      this.stop.hidden = prompt === null;
      this.stop.onclick = () => post("cancel", { prompt }).catch(() => undefined);
    }, STOPPABLE);
    try {
      return await work(present.signal);
    } catch (error) {
      if (wasAborted(error) || present.signal.aborted) return undefined;
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      clearTimeout(tell);
      clearTimeout(offer);
      if (this.present === present) {
        document.body.classList.remove("waiting");
        this.tell("");
        this.stop.hidden = true;
        this.present = null;
      }
    }
  }
}
