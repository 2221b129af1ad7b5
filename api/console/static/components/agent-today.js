// @ts-check
// <agent-today>: the calls of today of the agent who is signed in.

import { html, nothing } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import { count, duration } from "../lib/format.js";
import { get } from "../lib/rest.js";
import "./problem.js";

const STATS = "/srmain/cdr/me/today-stats";
const POLL_MS = 10_000; // records follow the ends of calls

export class AgentToday extends ConsoleElement {
  static properties = { stats: { state: true }, error: { state: true } };

  constructor() {
    super();
    /** @type {any} */
    this.stats = null;
    /** @type {unknown} */
    this.error = null;
    this.timer = 0;
  }

  connectedCallback() {
    super.connectedCallback();
    this.timer = window.setInterval(() => void this.read(), POLL_MS);
    void this.read();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    window.clearInterval(this.timer);
  }

  async read() {
    try {
      this.stats = await get(STATS);
      this.error = null;
    } catch (error) {
      this.error = error;
    }
  }

  render() {
    const { stats } = this;
    const figure = (/** @type {string} */ value, /** @type {string} */ name) =>
      html`<div class="figure"><b>${value}</b><span>${name}</span></div>`;
    return html`
      <console-problem .error=${this.error}></console-problem>
      ${stats
        ? html`<section class="card" aria-labelledby="today">
            <h2 id="today">Your ended calls of today (UTC)</h2>
            <div class="row">
              ${figure(count(stats.answered), "answered")} ${figure(count(stats.missed), "missed")}
              ${figure(duration(stats.talkMs), "talk time")} ${figure(duration(stats.averageTalkMs), "average talk time")}
            </div>
          </section>`
        : nothing}
    `;
  }
}

customElements.define("agent-today", AgentToday);
