/** What each level costs, over the same scale of tokens as the slider below it: above the line of the cutoff all is in. */

import { svg } from "./dom.js";
import { grouped, priorityText } from "./format.js";

/**
 * @typedef {Object} Curve
 * @property {[number | string, number, number][]} points level, tokens with what is reserved, reserved; highest level first
 * @property {number[]} steps places of points that some limit chooses
 */

export class Chart {
  /**
   * @param {HTMLElement} root
   * @param {(limit: number) => void} choose
   */
  constructor(root, choose) {
    this.root = root;
    /** @type {Curve | null} */
    this.curve = null;
    this.most = 1;
    this.limit = 0;
    this.level = 0;
    this.levels = 1;
    this.area = svg("path", { class: "area" });
    this.line = svg("path", { class: "line" });
    this.limitLine = svg("path", { class: "limit-line" });
    this.cutoffLine = svg("path", { class: "cutoff-line" });
    this.dot = svg("circle", { class: "dot", r: 3.5 });
    this.told = svg("text", { class: "told", "aria-hidden": "true" });
    this.picture = svg("svg", { role: "img" }, this.area, this.cutoffLine, this.line, this.limitLine, this.dot, this.told);
    root.append(this.picture);
    new ResizeObserver(() => this.draw()).observe(root);
    root.addEventListener("pointermove", (event) => this.#tell(/** @type {PointerEvent} */ (event)));
    root.addEventListener("pointerleave", () => (this.told.textContent = ""));
    root.addEventListener("click", (event) => choose(this.#tokensAt(/** @type {MouseEvent} */ (event))));
  }

  /**
   * @param {Curve | null} curve
   * @param {number} most tokens at the right end
   */
  show(curve, most) {
    this.curve = curve;
    this.most = Math.max(1, most);
    this.draw();
  }

  /**
   * Follow the slider.
   *
   * @param {number} limit
   * @param {number} level
   * @param {number} levels
   */
  move(limit, level, levels) {
    this.limit = limit;
    this.level = level;
    this.levels = levels;
    this.#lines();
  }

  draw() {
    const { width, height } = this.#size();
    if (width <= 0) return;
    this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const path = this.curve === null ? "" : outline(this.curve.points, width, height, this.most);
    this.line.setAttribute("d", path);
    this.area.setAttribute("d", path === "" ? "" : `${path}V${height}H0V0Z`);
    const last = this.curve?.points.at(-1);
    const said = last
      ? `What each of ${grouped(this.curve?.points.length ?? 0)} levels costs: ${grouped(this.curve?.points[0][1] ?? 0)} tokens for what is required, ${grouped(last[1])} with everything.`
      : "What each level costs: not known yet.";
    this.picture.setAttribute("aria-label", said);
    this.#lines();
  }

  #size() {
    return { width: this.root.clientWidth, height: this.root.clientHeight };
  }

  #lines() {
    const { width, height } = this.#size();
    const x = Math.min(width, (this.limit / this.most) * width);
    const y = yOf(this.level, this.levels, height);
    this.limitLine.setAttribute("d", `M${x} 0V${height}`);
    this.cutoffLine.setAttribute("d", `M0 ${y}H${width}`);
    const point = this.curve?.points[this.level];
    this.dot.toggleAttribute("hidden", point === undefined);
    if (point) {
      this.dot.setAttribute("cx", String(Math.min(width, (point[1] / this.most) * width)));
      this.dot.setAttribute("cy", String(y));
    }
  }

  /** @param {MouseEvent} event */
  #tokensAt(event) {
    const box = this.root.getBoundingClientRect();
    return Math.max(0, Math.round(((event.clientX - box.left) / box.width) * this.most));
  }

  /** @param {PointerEvent} event */
  #tell(event) {
    const { width, height } = this.#size();
    const box = this.root.getBoundingClientRect();
    const points = this.curve?.points;
    if (!points || points.length === 0) return;
    const place = Math.round(((event.clientY - box.top) / height) * (points.length - 1));
    const [level, tokens] = points[Math.min(points.length - 1, Math.max(0, place))];
    const x = event.clientX - box.left;
    this.told.textContent = `${priorityText(level)} · ${grouped(tokens)} tokens`;
    this.told.setAttribute("x", String(x > width / 2 ? x - 10 : x + 10));
    this.told.setAttribute("y", String(Math.min(height - 6, Math.max(12, event.clientY - box.top - 6))));
    this.told.setAttribute("text-anchor", x > width / 2 ? "end" : "start");
  }
}

/**
 * @param {number} level
 * @param {number} levels
 * @param {number} height
 */
function yOf(level, levels, height) {
  return levels < 2 ? height / 2 : 1 + (level / (levels - 1)) * (height - 2);
}

/**
 * The curve as a path of steps; of many levels in one row of pixels, the least and the greatest.
 *
 * @param {[number | string, number, number][]} points
 * @param {number} width
 * @param {number} height
 * @param {number} most
 */
export function outline(points, width, height, most) {
  const parts = [];
  const count = points.length;
  const rows = Math.max(1, Math.ceil(height * 2));
  const group = Math.max(1, Math.floor(count / rows));
  for (let start = 0; start < count; start += group) {
    const costs = points.slice(start, start + group).map((point) => point[1]);
    const ends = group === 1 ? [costs[0]] : [Math.min(...costs), Math.max(...costs)];
    for (const tokens of ends) {
      const x = round(Math.min(width * 1.5, (tokens / most) * width));
      const y = round(yOf(start, count, height));
      parts.push(parts.length === 0 ? `M${x} ${y}` : `V${y}H${x}`);
    }
  }
  return parts.join("");
}

/** @param {number} number */
function round(number) {
  return Math.round(number * 10) / 10;
}
