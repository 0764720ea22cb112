/** Elements made by hand: text goes in as text, styles by properties, so that no string is ever read as markup. */

/**
 * @typedef {Node | string | number | null | undefined | false} Content
 * @typedef {Record<string, string | number | boolean | null | undefined | EventListener>} Attributes
 */

/**
 * Make an element. `class` and other names are attributes, functions under `on…` listeners; false and null are left out.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {...(Content | Content[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  assign(element, attributes);
  append(element, children);
  return element;
}

/**
 * Make an SVG element.
 *
 * @param {string} tag
 * @param {Attributes} [attributes]
 * @param {...(Content | Content[])} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  assign(element, attributes);
  append(element, children);
  return element;
}

/**
 * @param {Element} element
 * @param {Attributes} attributes
 */
function assign(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * @param {Element} element
 * @param {(Content | Content[])[]} children
 */
function append(element, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/**
 * The element with this id, which the page has for certain.
 *
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new (...args: any[]) => T} kind
 * @returns {T}
 */
export function byId(id, kind) {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`);
  return element;
}

/**
 * Put text into an element where it is another one than before.
 *
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Call a function once a frame at most, with the last arguments.
 *
 * @template {unknown[]} A
 * @param {(...args: A) => void} work
 * @returns {(...args: A) => void}
 */
export function eachFrame(work) {
  /** @type {A | null} */
  let waiting = null;
  return (...args) => {
    if (waiting === null) {
      requestAnimationFrame(() => {
        const last = /** @type {A} */ (waiting);
        waiting = null;
        work(...last);
      });
    }
    waiting = args;
  };
}

/**
 * Call a function when nobody has called for a while.
 *
 * @template {unknown[]} A
 * @param {number} milliseconds
 * @param {(...args: A) => void} work
 * @returns {(...args: A) => void}
 */
export function afterwards(milliseconds, work) {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...args), milliseconds);
  };
}

/**
 * A small drawing from the page's sprite of icons.
 *
 * @param {string} name
 * @returns {SVGElement}
 */
export function icon(name) {
  const use = svg("use", { href: `#icon-${name}` });
  return svg("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, use);
}
