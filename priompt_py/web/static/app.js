/** The page: what is opened, and how its parts follow each other. */

import { ApiError, get, listen, post, takeToken } from "./api.js";
import { AnswerPanel } from "./answer.js";
import { startSwitch, startTheme } from "./appearance.js";
import { ComparePanel } from "./compare.js";
import { startControls } from "./controls.js";
import { CostsPanel } from "./costs.js";
import { Deck } from "./deck.js";
import { afterwards, byId, h, setText } from "./dom.js";
import { faultCard, faultOf, folded } from "./faults.js";
import { grouped, visible } from "./format.js";
import { heard, lost } from "./hearing.js";
import { Inspector } from "./inspector.js";
import { Mover } from "./mover.js";
import { keepPlace, placeOfAddress } from "./place.js";
import { PropsPanel } from "./props.js";
import { RequestPanel } from "./request.js";
import { Rows } from "./rows.js";
import { Sidebar } from "./sidebar.js";
import { tokenWanted, welcome } from "./states.js";
import { Tabs } from "./tabs.js";
import { TextPane } from "./text.js";
import { toast } from "./toast.js";
import { Tree } from "./tree.js";
import { Working } from "./working.js";

/** @typedef {import("./rows.js").Position} Position */

const RESTING = 220; // milliseconds that the slider rests before costs, requests and tokens follow

export class App {
  /** @type {import("./sidebar.js").PromptInfo[]} */
  prompts = [];
  /** @type {string | null} */
  prompt = null;
  /** @type {string | null} */
  example = null;
  /** @type {string | null} */
  question = null;
  /** @type {string | null} */
  view = null;
  /** @type {Rows | null} */
  rows = null;
  /** @type {Position | null} */
  position = null;
  /** @type {string | null} */
  tokenizer = null;
  /** @type {string | null} */
  server = null;
  /** What the text pane shows, so that the same again keeps its place. */
  shown = "";
  /** @type {import("./sidebar.js").Question[]} */
  questions = [];
  /** @type {HTMLInputElement | null} */
  showTokens = null;
  picked = -1;
  /** @type {any} */
  costs = null;

  constructor() {
    this.place = placeOfAddress();
    this.notices = byId("notices", HTMLElement);
    this.working = new Working();
    this.deck = new Deck({ limit: (limit) => this.mover.to({ limit }), level: (level) => this.mover.to({ level }) });
    this.mover = new Mover((position) => this.moved(position), (error) => this.moveFailed(error));
    this.text = new TextPane(byId("text", HTMLElement), {
      hover: (row) => this.hover(row),
      pick: (row) => this.pick(row, "text"),
      whole: async (row) => (await get(`views/${encodeURIComponent(this.view ?? "")}/text`, { row })).text,
    });
    this.tree = new Tree(byId("tree", HTMLElement), {
      hover: (row) => this.hover(row),
      pick: (row) => this.pick(row, "tree"),
    });
    this.inspector = new Inspector(byId("inspector", HTMLElement));
    this.sidebar = new Sidebar({
      open: (id, example) => this.open(id, example),
      question: (id) => this.openQuestion(id),
    });
    this.props = new PropsPanel(byId("panel-props", HTMLElement), {
      render: () => this.reopen(),
      reset: () => this.reopen(),
      tokenizer: (name) => {
        this.tokenizer = name;
        this.reopen();
      },
    });
    this.costsPanel = new CostsPanel(byId("panel-costs", HTMLElement), { pick: (row) => this.pick(row, "panel") });
    this.request = new RequestPanel(byId("panel-request", HTMLElement));
    this.answer = new AnswerPanel(byId("panel-answer", HTMLElement));
    this.compare = new ComparePanel(byId("panel-compare", HTMLElement), {
      now: () => this.#side(),
      mark: (row, offset) => (row < 0 ? CSS.highlights?.delete("difference") : this.text.markDifference(row, offset)),
      pick: (row) => this.pick(row, "panel"),
    });
    this.tabs = new Tabs(byId("tabs", HTMLElement), () => this.tabChanged());
    this.rested = afterwards(RESTING, () => this.rest());
  }

  async start() {
    startTheme();
    startSwitch("show-out", (isOn) => document.body.classList.toggle("only-in", !isOn));
    startSwitch("show-colours", (isOn) => document.body.classList.toggle("no-colours", !isOn));
    this.showTokens = startSwitch("show-tokens", () => this.#tokens());
    startControls(this);
    this.tabs.select(this.place.tab ?? (innerWidth < 900 ? "prompt" : "elements"));
    try {
      const session = await get("session");
      this.props.tokenizers(session.tokenizers ?? [], null);
      this.request.providers(session.providers ?? []);
      await this.loadPrompts();
    } catch (error) {
      this.refused(error);
      return;
    }
    listen(
      (name, data) => heard(this, name, data),
      (isLost, error) => lost(this, isLost, error),
    );
    const { prompt, example, question } = this.place;
    if (question !== null) await this.openQuestion(question);
    else if (prompt !== null) await this.open(prompt, example, this.place.limit);
    else await this.first();
  }

  /** The first prompt of the list, if there is one. */
  async first() {
    if (this.prompts.length > 0) await this.open(this.prompts[0].id, null);
    else this.welcome();
  }

  /** Load the list anew, and do something then; the next event tries again where the server was away. @param {() => unknown} then */
  async listed(then) {
    try {
      await this.loadPrompts();
      await then();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  // -- opening --------------------------------------------------------------------------------

  async loadPrompts() {
    this.prompts = (await get("prompts")).prompts;
    this.sidebar.show(this.prompts);
  }

  /**
   * @param {string} id
   * @param {string | null} example
   * @param {number | null} [limit]
   */
  async open(id, example, limit = null) {
    if (id !== this.prompt || example !== this.example || this.question !== null) this.picked = -1;
    this.prompt = id;
    this.example = example;
    this.question = null;
    this.place.limit = limit;
    this.sidebar.mark(id, example, null);
    this.menu(false);
    const key = `${id}\n${example ?? ""}`;
    const edited = this.props.edited(key);
    const info = this.prompts.find((one) => one.id === id) ?? null;
    setText(byId("crumb", HTMLElement), info ? visible(info.title) + (example ? ` · ${visible(example)}` : "") : visible(id));
    document.title = `${info?.title ?? id} · priompt`;
    const body = { prompt: id, example, props: edited, tokenizer: this.tokenizer, limit };
    const opened = await this.working.wait(id, (signal) => post("open", body, signal));
    if (opened === undefined) return;
    if (opened instanceof Error) {
      this.#failed(opened, () => this.reopen());
      this.props.open(key, info, edited);
      return;
    }
    this.props.open(key, info, opened.props);
    this.#show(opened, opened.view);
    this.answer.open({ view: opened.view }, /** @type {Rows} */ (this.rows), info?.title ?? id);
    if (opened.has_curve) this.#curve();
    this.rest();
  }

  /** Open the same again, at the same limit. */
  reopen() {
    const limit = this.position?.limit ?? this.place.limit;
    if (this.question !== null) return this.openQuestion(this.question);
    if (this.prompt !== null) return this.open(this.prompt, this.example, limit);
    return this.welcome();
  }

  /** @param {string} id */
  async openQuestion(id) {
    this.question = id;
    this.picked = -1;
    this.sidebar.mark(this.prompt, this.example, id);
    this.menu(false);
    const found = await this.working.wait(null, (signal) => get(`questions/${encodeURIComponent(id)}`, {}, signal));
    if (found === undefined) return;
    if (found instanceof Error) {
      this.#failed(found, null);
      return;
    }
    setText(byId("crumb", HTMLElement), `${visible(found.question.name)} waits for an answer`);
    document.title = `${found.question.name} waits · priompt`;
    this.#show({ ...found, total: found.position.limit, printed: "", warnings: [] }, null);
    this.costs = found;
    this.answer.open({ question: id }, /** @type {Rows} */ (this.rows), found.question.name);
    this.tabs.select("answer");
    this.rest();
  }

  /**
   * @param {any} opened
   * @param {string | null} view null of a question, which can't be moved
   */
  #show(opened, view) {
    document.body.dataset.state = view === null ? "question" : "view";
    this.view = view;
    this.rows = new Rows(opened.elements);
    this.rows.take(opened.position.bits);
    this.position = opened.position;
    this.costs = null;
    byId("welcome", HTMLElement).hidden = true;
    byId("prompt", HTMLElement).hidden = false;
    byId("side", HTMLElement).hidden = false;
    byId("tools", HTMLElement).hidden = false;
    const scrolled = byId("text", HTMLElement).scrollTop;
    const isSame = this.shown === `${this.prompt}\n${this.example}\n${this.question}`;
    this.shown = `${this.prompt}\n${this.example}\n${this.question}`;
    this.text.show(this.rows, opened.is_chat);
    if (isSame) byId("text", HTMLElement).scrollTop = scrolled;
    this.tree.show(this.rows);
    this.inspector.open(this.rows, view);
    this.inspector.limit = opened.position.limit;
    this.mover.open(view);
    this.deck.open(opened.total, opened.position, view !== null);
    this.find(byId("find", HTMLInputElement).value);
    const kind = opened.count_kind === "exact" ? [] : [h("p", { class: "notice" }, `Counts are ${opened.count_kind === "estimate" ? "estimates" : "upper bounds"}: ${visible(opened.tokenizer ?? "this tokenizer")} gives no exact ones.`)];
    this.notices.replaceChildren(
      ...kind,
      ...opened.warnings.map((/** @type {string} */ warning) => h("p", { class: "notice warn" }, visible(warning))),
      ...(opened.printed ? [folded("What the prompt's code printed", opened.printed)] : []),
    );
    if (this.picked >= 0 && this.picked < this.rows.count) this.pick(this.picked, "panel");
    else this.picked = -1;
    this.#keep();
  }

  async #curve() {
    const { view } = this;
    if (view === null) return;
    try {
      const limit = this.position?.limit ?? null;
      const curve = await get(`views/${encodeURIComponent(view)}/curve`, { limit });
      if (view === this.view) this.deck.showCurve(curve);
    } catch {
      // the sliders work without it
    }
  }

  // -- moving ---------------------------------------------------------------------------------

  /** @param {Position} position */
  moved(position) {
    const rows = /** @type {Rows} */ (this.rows);
    this.position = position;
    this.text.update(rows.take(position.bits));
    this.deck.show(position);
    this.tree.drawNow();
    this.inspector.move(position.limit);
    if (this.text.tokens !== null) this.text.showTokens([]);
    this.#keep();
    this.rested();
  }

  /** @param {unknown} error */
  moveFailed(error) {
    if (error instanceof ApiError && error.fault.kind === "gone") this.reopen();
    else this.#failed(error, () => this.reopen());
  }

  /** The slider rests: what takes longer follows. */
  rest() {
    const { view, rows, position } = this;
    if (rows === null || position === null) return;
    this.answer.limit = position.limit;
    const path = view === null ? `questions/${encodeURIComponent(this.question ?? "")}` : `views/${encodeURIComponent(view)}`;
    const tab = this.tabs.current;
    if (tab === "request") this.request.show(path, view === null ? {} : { limit: position.limit });
    if (tab === "costs") {
      if (view === null) this.costsPanel.draw(rows, this.costs ?? {});
      else this.costsPanel.show(view, rows, position.limit);
    }
    this.compare.update();
    this.#tokens();
  }

  async #tokens() {
    const { view, position } = this;
    if (!this.showTokens?.checked || view === null || position === null) {
      this.text.showTokens(null);
      return;
    }
    try {
      const found = await get(`views/${encodeURIComponent(view)}/tokens`, { limit: position.limit });
      if (view === this.view && position === this.position) this.text.showTokens(found.starts);
    } catch (error) {
      toast(`Token boundaries: ${faultOf(error).message}`);
      this.text.showTokens(null);
    }
  }

  /** @returns {import("./compare.js").Side | null} */
  #side() {
    const { view, rows, position } = this;
    if (view === null || rows === null || position === null) return null;
    const info = this.prompts.find((one) => one.id === this.prompt);
    const name = visible(`${info?.title ?? this.prompt}${this.example ? ` · ${this.example}` : ""}`);
    return { view, rows, limit: position.limit, name, bits: rows.bits };
  }

  // -- pointing -------------------------------------------------------------------------------

  /** @param {number} row */
  hover(row) {
    if (this.rows === null) return;
    this.text.mark(row, "hovered");
    this.tree.setHovered(row);
    this.inspector.show(row < 0 ? this.picked : row);
  }

  /**
   * @param {number} row
   * @param {"text" | "tree" | "panel"} from
   */
  pick(row, from) {
    if (this.rows === null || row < 0) return;
    this.picked = row;
    this.text.mark(row, "picked");
    this.inspector.show(row);
    if (from !== "text") this.text.reveal(row);
    if (from !== "tree") this.tree.select(row);
  }

  /** @param {1 | -1} direction */
  step(direction) {
    const { rows } = this;
    if (rows === null) return;
    let row = this.picked;
    do row += direction;
    while (row >= 0 && row < rows.count && this.text.pieces[row] === undefined);
    if (row >= 0 && row < rows.count) this.pick(row, "panel");
  }

  release() {
    this.menu(false);
    this.picked = -1;
    if (this.rows === null) return;
    this.text.mark(-1, "picked");
    this.inspector.show(-1);
  }

  /** @param {string} wanted */
  find(wanted) {
    const { rows } = this;
    if (rows === null) return;
    const said = byId("found", HTMLElement);
    const words = wanted.trim().toLowerCase();
    if (words === "") {
      this.tree.filter(null);
      said.textContent = "";
      return;
    }
    const found = rows.find(words);
    this.tree.filter(found);
    said.textContent = found.size === 1 ? "1 element" : `${grouped(found.size)} elements`;
  }

  // -- other states ---------------------------------------------------------------------------

  /** Nothing to show yet. */
  welcome() {
    this.#empty(...welcome());
  }

  /** @param {...Node} content */
  #empty(...content) {
    document.body.dataset.state = "empty";
    this.view = this.rows = this.position = null;
    this.text.clear();
    this.inspector.close();
    this.mover.open(null);
    this.deck.close();
    byId("prompt", HTMLElement).hidden = true;
    byId("side", HTMLElement).hidden = true;
    const welcome = byId("welcome", HTMLElement);
    welcome.hidden = false;
    welcome.replaceChildren(...content);
  }

  /**
   * An error in place of the prompt; props can still be edited.
   *
   * @param {unknown} error
   * @param {(() => void) | null} again
   */
  #failed(error, again) {
    if (error instanceof ApiError && error.status === 401) {
      this.refused(error);
      return;
    }
    document.body.dataset.state = "failed";
    this.view = this.rows = this.position = null;
    this.shown = "";
    this.text.clear();
    this.inspector.close();
    this.mover.open(null);
    this.deck.close();
    byId("welcome", HTMLElement).hidden = true;
    byId("prompt", HTMLElement).hidden = false;
    byId("tools", HTMLElement).hidden = true;
    byId("side", HTMLElement).hidden = this.question !== null;
    this.tabs.select(innerWidth >= 900 ? "props" : "prompt");
    const button = again === null ? [] : [h("button", { type: "button", class: "primary", onclick: again }, "Try again")];
    this.notices.replaceChildren(faultCard(faultOf(error), { actions: button }));
    this.#keep();
  }

  /** The page has no token, or the server is away from the start. @param {unknown} error */
  refused(error) {
    if (!(error instanceof ApiError) || error.status !== 401) {
      const button = h("button", { type: "button", class: "primary", onclick: () => location.reload() }, "Try again");
      this.#empty(faultCard(faultOf(error), { actions: [button] }));
      return;
    }
    this.#empty(...tokenWanted());
  }

  // -- controls -------------------------------------------------------------------------------

  tabChanged() {
    this.#keep();
    this.tree.drawNow();
    this.rest();
  }

  #keep() {
    const { prompt, example, question } = this;
    if (prompt === null && question === null) return;
    const tab = this.tabs.current;
    this.place = { prompt, example, question, limit: this.position?.limit ?? this.place.limit, tab };
    keepPlace(this.place);
  }

  /** @param {boolean} isOpen */
  menu(isOpen) {
    document.body.classList.toggle("menu", isOpen);
    byId("menu", HTMLButtonElement).setAttribute("aria-expanded", String(isOpen));
  }
}

takeToken();
new App().start();
