// @ts-check
// The text of server-sent events.

/** @typedef {{id: string, type: string, data: string}} ServerEvent */

/** Splits text into events, as the HTML standard says (section 9.2.6). */
export class EventParser {
  /**
   * @param {(event: ServerEvent) => void} onEvent
   * @param {string} [id] of the last event of the connection before: an event without an id keeps it
   */
  constructor(onEvent, id = "") {
    this.onEvent = onEvent;
    this.rest = "";
    this.id = id;
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
