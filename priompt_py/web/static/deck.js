/** The budget: the limit as a number and as a slider, the bar, the cutoff's slider, and the curve, on one scale. */

import { Chart } from "./chart.js";
import { byId, eachFrame, h, setText } from "./dom.js";
import { grouped, priorityText } from "./format.js";
import { keyStep, scaleEnd, ticks } from "./scale.js";

/** @typedef {import("./rows.js").Position} Position */

export class Deck {
  /** @param {{limit: (limit: number) => void, level: (level: number) => void}} hooks */
  constructor(hooks) {
    this.hooks = hooks;
    this.total = 0;
    this.end = 1;
    this.isNear = false;
    this.hasLevels = true;
    /** @type {Position | null} */
    this.position = null;
    /** The level that was last asked for by keys, until the server answers. @type {number | null} */
    this.ahead = null;
    /** @type {import("./chart.js").Curve | null} */
    this.curve = null;
    this.root = byId("deck", HTMLElement);
    this.limit = byId("limit", HTMLInputElement);
    this.number = byId("limit-number", HTMLInputElement);
    this.level = byId("level", HTMLInputElement);
    this.zoom = byId("zoom", HTMLButtonElement);
    this.bar = [...byId("budget-bar", HTMLElement).children].map((part) => /** @type {HTMLElement} */ (part));
    this.ticks = byId("ticks", HTMLElement);
    this.chart = new Chart(byId("chart", HTMLElement), (limit) => this.#choose(limit));
    this.limit.addEventListener("input", () => this.#choose(this.limit.valueAsNumber));
    this.limit.addEventListener("keydown", (event) => this.#key(event));
    this.number.addEventListener("input", () => {
      if (this.number.validity.valid && this.number.value !== "") this.#choose(this.number.valueAsNumber);
    });
    this.level.addEventListener("input", () => hooks.level(this.level.valueAsNumber));
    this.zoom.addEventListener("click", () => this.#toggleZoom());
    new ResizeObserver(eachFrame(() => this.#drawTicks())).observe(this.ticks);
  }

  /**
   * A prompt is opened.
   *
   * @param {number} total
   * @param {Position} position
   * @param {boolean} canMove false of a question, which is as its program rendered it
   */
  open(total, position, canMove) {
    this.root.hidden = false;
    this.total = total;
    this.curve = null;
    this.isNear = false;
    for (const control of [this.limit, this.number, this.level]) control.disabled = !canMove;
    this.#scale(position.limit);
    this.show(position);
    this.zoom.hidden = this.total <= 3 * position.limit;
  }

  close() {
    this.root.hidden = true;
  }

  /** @param {import("./chart.js").Curve} curve */
  showCurve(curve) {
    this.curve = curve;
    this.chart.show(curve, this.end);
  }

  /** @param {number} limit */
  #scale(limit) {
    this.end = scaleEnd(this.total, limit, this.isNear);
    this.limit.max = String(this.end);
    this.limit.step = "1";
    this.chart.show(this.curve, this.end);
    this.#drawTicks();
    setText(this.zoom, this.isNear ? "Whole scale" : "Zoom in");
    this.zoom.setAttribute("aria-pressed", String(this.isNear));
  }

  #toggleZoom() {
    this.isNear = !this.isNear;
    if (this.position === null) return;
    this.#scale(this.position.limit);
    this.show(this.position);
  }

  /** @param {number} limit */
  #choose(limit) {
    if (this.limit.disabled || !Number.isSafeInteger(limit) || limit < 0) return;
    // what can be told at once is told at once; the rest follows with the server's answer
    if (document.activeElement !== this.number) this.number.value = String(limit);
    this.hooks.limit(limit);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const step = event.shiftKey ? 1 : keyStep(this.end);
    /** @type {Record<string, number>} */
    const steps = { ArrowRight: step, ArrowUp: step, ArrowLeft: -step, ArrowDown: -step, PageUp: step * 20, PageDown: -step * 20 };
    if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.stepBy(steps[event.key]);
  }

  /** @param {number} tokens */
  stepBy(tokens) {
    const limit = Math.min(this.end, Math.max(0, this.limit.valueAsNumber + tokens));
    this.limit.value = String(limit);
    this.#choose(limit);
  }

  /** To the next level that some limit chooses; at most all of it, at least what is required. @param {1 | -1} direction */
  stepLevel(direction) {
    if (this.position === null || this.level.disabled) return;
    const { levels } = this.position;
    const level = this.ahead ?? this.position.level;
    const steps = this.curve?.steps ?? null;
    const next =
      steps === null
        ? level + direction
        : direction > 0
          ? (steps.find((one) => one > level) ?? level)
          : (steps.findLast((one) => one < level) ?? level);
    if (next === level || next < 0 || next >= levels) return;
    this.ahead = next;
    this.hooks.level(next);
  }

  /**
   * Follow the slider.
   *
   * @param {Position} position
   */
  show(position) {
    this.position = position;
    this.ahead = null;
    const { limit, level, levels, used, reserved, free, fits } = position;
    if (limit > this.end) this.#scale(limit);
    if (document.activeElement !== this.number) this.number.value = String(limit);
    this.limit.value = String(limit);
    this.limit.setAttribute("aria-valuetext", `${grouped(limit)} tokens, ${grouped(used)} used`);
    this.level.max = String(Math.max(0, levels - 1));
    this.level.value = String(level);
    this.level.setAttribute("aria-valuetext", `${priorityText(position.cutoff)}, level ${level + 1} of ${levels}`);
    setText(byId("count-used", HTMLElement), grouped(used));
    setText(byId("count-reserved", HTMLElement), grouped(reserved));
    byId("reserved-count", HTMLElement).hidden = reserved === 0;
    setText(byId("count-free", HTMLElement), grouped(free).replace("-", "−"));
    setText(byId("cutoff-value", HTMLElement), priorityText(position.cutoff));
    setText(byId("cutoff-level", HTMLElement), `level ${grouped(level + 1)} of ${grouped(levels)}`);
    const least = position.required === null ? "" : ` It needs ${grouped(position.required)}.`;
    setText(byId("fits", HTMLElement), fits ? "" : `Too long for this limit.${least}`);
    this.root.classList.toggle("too-long", !fits);
    const [usedBar, reservedBar, freeBar] = this.bar;
    usedBar.style.width = this.#share(used);
    reservedBar.style.width = this.#share(reserved);
    freeBar.style.width = this.#share(Math.max(0, free));
    this.chart.move(limit, level, levels);
  }

  /** @param {number} tokens */
  #share(tokens) {
    return `${Math.min(100, (tokens / this.end) * 100)}%`;
  }

  #drawTicks() {
    const marks = ticks(this.end, this.ticks.clientWidth || 300);
    this.ticks.replaceChildren(
      ...marks.map((at) => {
        const mark = h("span", {}, grouped(at));
        mark.style.insetInlineStart = this.#share(at);
        return mark;
      }),
    );
  }
}
