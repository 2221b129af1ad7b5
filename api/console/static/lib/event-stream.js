// @ts-check
// Server-sent events over fetch: EventSource cannot send the header that proves the session.

import { request, RestError } from "./rest.js";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

/**
 * @typedef {{id: string, type: string, data: string}} ServerEvent
 * @typedef {"connecting" | "live" | "lost"} StreamState
 */

/** Reads a stream, and connects again after the last event that it has read. */
export class EventStream {
  /**
   * @param {string} path
   * @param {(event: ServerEvent) => void} onEvent
   * @param {(state: StreamState) => void} [onState]
   */
  constructor(path, onEvent, onState = () => {}) {
    this.path = path;
    this.onEvent = onEvent;
    this.onState = onState;
    this.lastId = "";
    this.pauseMs = FIRST_PAUSE_MS;
    this.abort = new AbortController();
  }

  /** Read until `close()`. */
  async run() {
    const { signal } = this.abort;
    while (!signal.aborted) {
      this.onState("connecting");
      try {
        await this.read(signal);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof RestError && error.status === 403) throw error;
      }
      this.onState("lost");
      await pause(this.pauseMs, signal);
      this.pauseMs = Math.min(this.pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }

  close() {
    this.abort.abort();
  }

  /** @param {AbortSignal} signal */
  async read(signal) {
    /** @type {Record<string, string>} */
    const headers = { Accept: "text/event-stream" };
    if (this.lastId) headers["Last-Event-ID"] = this.lastId;
    const response = await request(this.path, { headers, signal });
    if (response.body === null) return;
    this.onState("live");
    this.pauseMs = FIRST_PAUSE_MS;
    const parser = new EventParser((event) => {
      this.lastId = event.id;
      this.onEvent(event);
    });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      parser.feed(value);
    }
  }
}

/** Splits text into events, as the HTML standard says (section 9.2.6). */
export class EventParser {
  /** @param {(event: ServerEvent) => void} onEvent */
  constructor(onEvent) {
    this.onEvent = onEvent;
    this.rest = "";
    this.id = "";
    this.type = "";
    /** @type {string[]} */
    this.data = [];
  }

  /** @param {string} text */
  feed(text) {
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.line(line);
  }

  /** @param {string} line */
  line(line) {
    if (line === "") {
      if (this.data.length) {
        this.onEvent({ id: this.id, type: this.type || "message", data: this.data.join("\n") });
      }
      this.type = "";
      this.data = [];
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.data.push(value);
    else if (field === "id") this.id = value;
    else if (field === "event") this.type = value;
  }
}

/**
 * @param {number} ms
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
