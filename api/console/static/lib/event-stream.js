// @ts-check
// Server-sent events over fetch: EventSource cannot send the header that proves the session.

import { request } from "./rest.js";
import { ResumedStream } from "./resumed-stream.js";

/**
 * @typedef {import("./resumed-stream.js").ServerEvent} ServerEvent
 * @typedef {import("./resumed-stream.js").StreamState} StreamState
 */

/** A stream of the REST API. */
export class EventStream extends ResumedStream {
  /**
   * @param {string} path
   * @param {(event: ServerEvent) => void} onEvent
   * @param {(state: StreamState) => void} [onState]
   */
  constructor(path, onEvent, onState) {
    super((headers, signal) => request(path, { headers, signal }), onEvent, onState);
  }
}
