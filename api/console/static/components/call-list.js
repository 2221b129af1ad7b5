// @ts-check
// <call-list>: the live calls, as events change them.

import { html, repeat } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import { EventStream } from "../lib/event-stream.js";
import { duration } from "../lib/format.js";
import { may } from "../lib/page.js";
import { get } from "../lib/rest.js";
import "./problem.js";

const CALLS = "/srmain/voice/calls";
const EVENTS = "/srmain/voice/events";
const POLL_MS = 3_000; // of an agent, who may not read the account's events

export class CallList extends ConsoleElement {
  static properties = {
    calls: { state: true },
    error: { state: true },
    stream: { state: true },
  };

  constructor() {
    super();
    /** @type {any[]} */
    this.calls = [];
    /** @type {unknown} */
    this.error = null;
    this.stream = "connecting";
    this.timer = 0;
    /** @type {EventStream | null} */
    this.events = null;
  }

  connectedCallback() {
    super.connectedCallback();
    void this.load();
    if (may("calls")) {
      this.events = new EventStream(EVENTS, () => void this.load(), (state) => (this.stream = state));
      this.events.run().catch((error) => (this.error = error));
    } else {
      this.timer = window.setInterval(() => void this.load(), POLL_MS);
    }
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.events?.close();
    window.clearInterval(this.timer);
  }

  async load() {
    try {
      this.calls = (await get(CALLS)).data;
      this.error = null;
    } catch (error) {
      this.error = error;
    }
  }

  render() {
    return html`
      <console-problem .error=${this.error}></console-problem>
      <div class="scroll">
        <table>
          <caption class="visually-hidden">Live calls</caption>
          <thead>
            <tr><th>Call</th><th>From</th><th>To</th><th>State</th><th class="number">Time</th></tr>
          </thead>
          <tbody>
            ${repeat(this.calls, (each) => each.callId, row)}
          </tbody>
        </table>
        ${this.calls.length ? "" : html`<p class="empty">No call is live.</p>`}
      </div>
    `;
  }
}

/** @param {any} call */
function row(call) {
  return html`
    <tr>
      <td><code>${call.callId}</code></td>
      <td>${call.from}</td>
      <td>${call.to}</td>
      <td><span class="tag accent">${call.state}</span></td>
      <td class="number">${duration(Date.now() - call.createdMs)}</td>
    </tr>
  `;
}

customElements.define("call-list", CallList);
