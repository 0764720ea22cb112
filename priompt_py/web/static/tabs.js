/** Tabs as the ARIA pattern has them: one tab stop, arrow keys go from tab to tab. */

export class Tabs {
  /**
   * @param {HTMLElement} list
   * @param {(name: string) => void} changed
   */
  constructor(list, changed) {
    this.changed = changed;
    this.tabs = /** @type {HTMLButtonElement[]} */ ([...list.querySelectorAll("[role=tab]")]);
    this.current = "";
    for (const tab of this.tabs) tab.addEventListener("click", () => this.select(nameOf(tab)));
    list.addEventListener("keydown", (event) => this.#key(event));
  }

  /**
   * Show a tab's panel.
   *
   * @param {string} name
   */
  select(name) {
    const tab = this.tabs.find((one) => nameOf(one) === name) ?? this.tabs[1];
    if (nameOf(tab) === this.current) return;
    this.current = nameOf(tab);
    for (const one of this.tabs) {
      one.setAttribute("aria-selected", String(one === tab));
      one.tabIndex = one === tab ? 0 : -1;
    }
    document.body.dataset.tab = this.current;
    tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.changed(this.current);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const seen = this.tabs.filter((tab) => tab.offsetParent !== null && !tab.disabled);
    const place = seen.findIndex((tab) => nameOf(tab) === this.current);
    /** @type {Record<string, number>} */
    const places = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: seen.length - 1 };
    if (!(event.key in places)) return;
    event.preventDefault();
    const next = seen[(places[event.key] + seen.length) % seen.length];
    next.focus();
    this.select(nameOf(next));
  }
}

/** @param {HTMLElement} tab */
function nameOf(tab) {
  return tab.id.replace("tab-", "");
}
