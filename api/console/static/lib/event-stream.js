// @ts-check
// Server-sent events over fetch: EventSource cannot send the header that proves the session.
//
// A browser opens six connections to a server without HTTP/2, for all tabs together. A stream holds
// one, so only pages that are shown have one; otherwise the seventh tab would wait for ever.

import { request } from "./rest.js";
import { ResumedStream } from "./resumed-stream.js";

const LATE_MS = 600_000; // hidden for so long: a list is read sooner than all events since

/**
 * @typedef {import("./resumed-stream.js").ServerEvent} ServerEvent
 * @typedef {import("./resumed-stream.js").StreamState} StreamState
 */

/** A stream of the REST API; unless `isAlways`, while the page is shown. */
export class EventStream extends ResumedStream {
  /**
   * @param {string} path
   * @param {(event: ServerEvent) => void} onEvent
   * @param {(state: StreamState) => void} [onState]
   * @param {boolean} [isAlways]
   */
  constructor(path, onEvent, onState, isAlways = false) {
    super((headers, signal) => request(path, { headers, signal }), onEvent, onState);
    this.isAlways = isAlways;
  }

  /** Read until `close()`. */
  async run() {
    let hiddenMs = Date.now();
    const follow = () => {
      if (document.hidden) hiddenMs = Date.now();
      if (document.hidden && !this.isAlways) this.suspend();
      else this.resume(Date.now() - hiddenMs > LATE_MS);
    };
    document.addEventListener("visibilitychange", follow);
    follow();
    try {
      await super.run();
    } finally {
      document.removeEventListener("visibilitychange", follow);
    }
  }
}
