/** Moves of the sliders: one request at a time, always for where the slider is now. */

import { get } from "./api.js";
import { wasAborted } from "./faults.js";

/** @typedef {import("./rows.js").Position} Position */

export class Mover {
  /**
   * @param {(position: Position) => void} moved
   * @param {(error: unknown) => void} failed
   */
  constructor(moved, failed) {
    this.moved = moved;
    this.failed = failed;
    /** @type {string | null} */
    this.view = null;
    /** @type {Record<string, number> | null} */
    this.wanted = null;
    this.isAsking = false;
  }

  /** @param {string | null} view */
  open(view) {
    this.view = view;
    this.wanted = null;
  }

  /** @param {Record<string, number>} wanted `limit` or `level` */
  to(wanted) {
    this.wanted = wanted;
    if (!this.isAsking) this.#ask();
  }

  async #ask() {
    this.isAsking = true;
    while (this.wanted !== null && this.view !== null) {
      const { view, wanted } = this;
      this.wanted = null;
      try {
        const position = await get(`views/${encodeURIComponent(view)}/at`, wanted);
        if (view === this.view) this.moved(position);
      } catch (error) {
        if (view === this.view && !wasAborted(error)) this.failed(error);
      }
    }
    this.isAsking = false;
  }
}
