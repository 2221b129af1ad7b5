// @ts-check
// <call-events call-id="…">: the events of a call, as they happen.

import { html, nothing, repeat } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import { EventStream } from "../lib/event-stream.js";
import { time } from "../lib/format.js";
import { parse } from "../lib/json.js";
import { hangupCauses, may } from "../lib/page.js";
import { post } from "../lib/rest.js";
import { detailsOf, eventsOf, titleOf } from "./event-text.js";
import "../components/problem.js";

const EVENTS = "/srmain/voice/events";
const KEPT = 1_000; // events of all calls; those before the call's id is known are among them

export class CallEvents extends ConsoleElement {
  static properties = {
    callId: { attribute: "call-id" },
    events: { state: true },
    state: { state: true },
    error: { state: true },
  };

  constructor() {
    super();
    this.callId = "";
    /** @type {import("./event-text.js").CallEvent[]} */
    this.events = [];
    this.state = "connecting";
    /** @type {unknown} */
    this.error = null;
    this.stream = new EventStream(
      EVENTS,
      ({ data }) => (this.events = [...this.events, parse(data)].slice(-KEPT)),
      (state) => (this.state = state),
      true, // the events are all that is shown: those from before the first one could not be read again
    );
  }

  connectedCallback() {
    super.connectedCallback();
    if (may("calls")) this.stream.run().catch((error) => (this.error = error));
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.stream.close();
  }

  render() {
    const found = this.callId ? eventsOf(this.events, this.callId) : [];
    const hasEnded = found.some((each) => each.event === "completed");
    return html`
      <console-problem .error=${this.error}></console-problem>
      ${this.callId ? this.renderHead(hasEnded) : nothing}
      <ol class="steps" aria-label="Events" aria-live="polite">
        ${repeat(found, (each) => each.id, row)}
      </ol>
      ${this.callId && found.length === 0
        ? html`<p class="quiet" role="status">${this.state === "live" ? "Waiting for the first event…" : "Connecting…"}</p>`
        : nothing}
    `;
  }

  /** @param {boolean} hasEnded */
  renderHead(hasEnded) {
    return html`
      <h2 class="row middle flow-head">
        Call <a href="/console/calls/${encodeURIComponent(this.callId)}"><code>${this.callId}</code></a>
        ${hasEnded ? html`<span class="tag">ended</span>` : html`<span class="tag good">live</span>`}
        ${hasEnded ? nothing : html`<button class="danger" @click=${this.hangUp}>Hang up</button>`}
      </h2>
    `;
  }

  async hangUp() {
    try {
      await post(`/srmain/voice/call/${encodeURIComponent(this.callId)}/hangup`);
      this.error = null;
    } catch (error) {
      this.error = error;
    }
  }
}

/** @param {import("./event-text.js").CallEvent} event */
function row(event) {
  return html`<li class="new">
    <time>${time(event.timestamp)}</time>
    <span><b>${titleOf(event)}</b> <span class="quiet break">${detailsOf(event, hangupCauses)}</span></span>
  </li>`;
}

customElements.define("call-events", CallEvents);
