/** How the page speaks with the server: everything relative to the page, with the token that was in its address. */

/** A server can show several previews under paths of its own, each with its token. */
const KEY = `priompt-token:${location.pathname}`;

/** @type {Map<string, string>} */
const kept = new Map();

/**
 * @typedef {Object} Fault
 * @property {string} kind
 * @property {string} message
 * @property {string | null} place
 * @property {string[]} notes
 * @property {string | null} traceback
 * @property {string} [printed]
 */

/** What the server refused, or that it can't be reached (then `kind` is `away`). */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {Fault} fault
   */
  constructor(status, fault) {
    super(fault.message);
    this.status = status;
    this.fault = fault;
  }
}

/** Take the token out of the address, so that it stands in no history, and keep it for the next time. Tells whether there was one. */
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1));
  const token = given.get("token");
  if (token === null) return false;
  keepToken(token);
  given.delete("token");
  const rest = given.toString();
  history.replaceState(null, "", rest ? `#${rest}` : location.pathname + location.search);
  return true;
}

/**
 * Keep a token, or that of an address.
 *
 * @param {string} text
 */
export function keepToken(text) {
  const found = /token=([^&\s]+)/.exec(text);
  write(KEY, found ? decodeURIComponent(found[1]) : text.trim());
}

/**
 * @param {string} path
 * @param {Record<string, string | number | null | undefined>} [query]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export function get(path, query = {}, signal) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) given.set(name, String(value));
  }
  const search = given.toString();
  return answerOf(search ? `${path}?${search}` : path, { signal });
}

/**
 * @param {string} path
 * @param {unknown} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export function post(path, body, signal) {
  return answerOf(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
}

/**
 * @param {string} path
 * @param {RequestInit} options
 */
async function answerOf(path, options) {
  const answer = await send(path, options);
  const data = await answer.json().catch(() => null);
  if (answer.ok && data !== null) return data;
  throw new ApiError(answer.status, faultOf(data, answer.status));
}

/**
 * @param {string} path
 * @param {RequestInit} options
 * @returns {Promise<Response>}
 */
async function send(path, options) {
  try {
    return await fetch(`api/${path}`, {
      ...options,
      headers: { ...options.headers, "X-Priompt-Token": read(KEY) ?? "" },
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    const message = "The server does not answer. Is priompt serve still running?";
    throw new ApiError(0, { kind: "away", message, place: null, notes: [], traceback: null });
  }
}

/**
 * @param {any} data
 * @param {number} status
 * @returns {Fault}
 */
function faultOf(data, status) {
  const fault = data?.error;
  if (typeof fault?.message === "string") return { notes: [], place: null, traceback: null, kind: "ours", ...fault };
  return { kind: "ours", message: `The server answered ${status}.`, place: null, notes: [], traceback: null };
}

/**
 * Hear the server's events until the page is closed: `heard(name, data)` for each, `lost(isLost)` when the connection is
 * gone or back.
 *
 * @param {(name: string, data: any) => void} heard
 * @param {(isLost: boolean, error: unknown) => void} lost
 */
export async function listen(heard, lost) {
  let wait = 1_000;
  for (;;) {
    try {
      const answer = await send("events", {});
      if (!answer.ok) throw new ApiError(answer.status, faultOf(await answer.json().catch(() => null), answer.status));
      lost(false, null);
      wait = 1_000;
      await readEvents(answer, heard);
    } catch (error) {
      lost(true, error);
      if (error instanceof ApiError && error.status === 401) return;
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(10_000, wait * 2);
    }
  }
}

/**
 * @param {Response} answer
 * @param {(name: string, data: any) => void} heard
 */
async function readEvents(answer, heard) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (answer.body).getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += decoder.decode(value, { stream: true });
    const parts = rest.split("\n\n");
    rest = /** @type {string} */ (parts.pop());
    for (const part of parts) {
      const name = /^event: (.*)$/m.exec(part)?.[1];
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (name !== undefined && data !== undefined) heard(name, JSON.parse(data));
    }
  }
}

/**
 * What the browser keeps for the page; nothing where it keeps nothing.
 *
 * @param {string} key
 * @returns {string | null}
 */
export function read(key) {
  try {
    return localStorage.getItem(key) ?? kept.get(key) ?? null;
  } catch {
    return kept.get(key) ?? null;
  }
}

/**
 * @param {string} key
 * @param {string} value
 */
export function write(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    kept.set(key, value); // a private window may keep nothing: then it holds until the page is closed
  }
}
