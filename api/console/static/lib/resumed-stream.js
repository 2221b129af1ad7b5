// @ts-check
// Server-sent events that continue where a connection was lost, whatever opens connections.

import { EventParser } from "./event-parser.js";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
const UNKNOWN_PLACE = 400;
const FORBIDDEN = 403;

/**
 * @typedef {import("./event-parser.js").ServerEvent} ServerEvent
 * @typedef {"connecting" | "live" | "lost"} StreamState
 */

/** Reads a stream, and connects again after the last event that it has read. */
export class ResumedStream {
  /**
   * @param {(headers: Record<string, string>, signal: AbortSignal) => Promise<Response>} open it
   *   throws an error with a `status` if the server refuses
   * @param {(event: ServerEvent) => void} onEvent
   * @param {(state: StreamState) => void} [onState]
   * @param {number} [firstPauseMs] before the first of several tries
   */
  constructor(open, onEvent, onState = () => {}, firstPauseMs = FIRST_PAUSE_MS) {
    this.open = open;
    this.onEvent = onEvent;
    this.onState = onState;
    this.lastId = "";
    this.firstPauseMs = firstPauseMs;
    this.pauseMs = firstPauseMs;
    this.closing = new AbortController();
    this.connection = new AbortController();
    this.isSuspended = false;
    this.wake = () => {};
  }

  /** Read until `close()`. */
  async run() {
    const { signal } = this.closing;
    while (!signal.aborted) {
      if (this.isSuspended) {
        await new Promise((resolve) => (this.wake = () => resolve(null)));
        continue;
      }
      this.onState("connecting");
      this.connection = new AbortController();
      try {
        await this.read(this.connection.signal);
      } catch (/** @type {any} */ error) {
        if (this.connection.signal.aborted) continue;
        if (error.status === FORBIDDEN) throw error;
        if (error.status === UNKNOWN_PLACE && this.lastId) this.startAgain();
      }
      if (this.connection.signal.aborted) continue;
      this.onState("lost");
      await pause(this.pauseMs, signal);
      this.pauseMs = Math.min(this.pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }

  /** Close the connection until `resume()`. */
  suspend() {
    this.isSuspended = true;
    this.connection.abort();
  }

  /**
   * Continue after the last event, or from now, if what was missed is too much to be read.
   * @param {boolean} [isLate]
   */
  resume(isLate = false) {
    if (this.isSuspended && (isLate || !this.lastId)) this.startAgain();
    this.isSuspended = false;
    this.wake();
  }

  /** Continue from now, and say that events were missed. */
  startAgain() {
    this.lastId = "";
    this.onEvent({ id: "", type: "lost", data: "{}" });
  }

  close() {
    this.closing.abort();
    this.connection.abort();
    this.wake();
  }

  /** @param {AbortSignal} signal */
  async read(signal) {
    /** @type {Record<string, string>} */
    const headers = { Accept: "text/event-stream" };
    if (this.lastId) headers["Last-Event-ID"] = this.lastId;
    const response = await this.open(headers, signal);
    if (response.body === null) return;
    this.onState("live");
    this.pauseMs = this.firstPauseMs;
    const parser = new EventParser((event) => {
      this.lastId = event.id;
      this.onEvent(event);
    }, this.lastId);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      parser.feed(value);
    }
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
