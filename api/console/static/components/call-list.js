// @ts-check
// <call-list>: the live calls, as events change them.

import { html, nothing, repeat } from "../vendored/lit.js";
import { batchByFrame } from "../calls/frame-batch.js";
import { LiveCalls, STATES, phaseOf } from "../calls/live-calls.js";
import { ConsoleElement } from "../lib/console-element.js";
import { EventStream } from "../lib/event-stream.js";
import { count, duration } from "../lib/format.js";
import { parse } from "../lib/json.js";
import { renderFaults } from "../lib/outcome-tags.js";
import { agentId, may } from "../lib/page.js";
import { get } from "../lib/rest.js";
import "./agent-today.js";
import "./call-charts.js";
import "./problem.js";

const CALLS = "/srmain/voice/calls";
const EVENTS = "/srmain/voice/events";
const MAX_ROWS = 1_000; // of a page of the API
const POLL_MS = 3_000; // of an agent, who may not read the account's events
const RECONCILE_MS = 30_000;
const FEW_MS = 3_000; // with few calls, an event is soon followed by their exact states
const FEW = 30;
const TICK_MS = 1_000;
const FIRST_ROWS = 50; // of more, only a click shows all: each event moves the rows below it
const MANY_TICKS = 5; // between two changes of the times of more rows

/** @type {Record<import("../calls/live-calls.js").Phase, [string, string]>} */
const PHASES = {
  ringing: ["ringing", "warn"],
  menu: ["in menu", "accent"],
  talking: ["talking", "good"],
  hold: ["on hold", "bad"],
  ended: ["ended", ""],
};
/** @type {["number", "agent", "phase", "direction"]} */
const FILTERS = ["number", "agent", "phase", "direction"];

export class CallList extends ConsoleElement {
  static properties = {
    error: { state: true },
    stream: { state: true },
    filters: { state: true },
    showsAll: { state: true },
  };

  constructor() {
    super();
    this.calls = new LiveCalls();
    /** @type {unknown} */
    this.error = null;
    /** @type {import("../lib/event-stream.js").StreamState} */
    this.stream = "connecting";
    this.isLoaded = false;
    this.total = 0; // of the last list
    this.ticks = 0;
    this.showsAll = false;
    this.shownMs = Date.now(); // the time at which rows are shown: they change together
    const query = new URLSearchParams(location.search);
    /** @type {import("../calls/live-calls.js").Filters} */
    this.filters = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ""]));
    /** @type {number[]} */
    this.timers = [];
    this.reconcileTimer = 0;
    this.isReconciling = false;
    /** @type {EventStream | null} */
    this.events = null;
    this.renderSoon = batchByFrame(() => this.requestUpdate());
  }

  connectedCallback() {
    super.connectedCallback();
    this.timers = [window.setInterval(() => this.tick(), TICK_MS)];
    if (may("calls")) {
      this.events = new EventStream(EVENTS, (event) => this.take(event), (state) => this.follow(state));
      this.events.run().catch((error) => (this.error = error));
      this.timers.push(window.setInterval(() => void this.reconcile(), RECONCILE_MS));
    } else {
      this.timers.push(window.setInterval(() => void this.reconcile(), POLL_MS));
    }
    void this.reconcile();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.events?.close();
    this.timers.forEach((timer) => window.clearInterval(timer));
    window.clearTimeout(this.reconcileTimer);
  }

  /** @param {import("../lib/event-stream.js").StreamState} state */
  follow(state) {
    if (state === "live" && this.stream !== "live") void this.reconcile();
    this.stream = state;
  }

  /** @param {import("../lib/event-stream.js").ServerEvent} message */
  take({ type, data }) {
    const charts = /** @type {import("./call-charts.js").CallCharts | null} */ (this.querySelector("call-charts"));
    if (type === "lost") {
      void this.reconcile();
      void charts?.load();
      return;
    }
    const event = parse(data);
    this.calls.apply(event, Date.now());
    charts?.take(event);
    if (this.calls.calls.size <= FEW) this.reconcileSoon();
    this.renderSoon();
  }

  tick() {
    this.ticks += 1;
    const isFading = this.calls.sweep(Date.now());
    if (isFading || this.isTimeDue()) this.renderSoon(); // the times of live calls
  }

  isTimeDue() {
    return !this.showsAll || this.calls.calls.size <= FIRST_ROWS || this.ticks % MANY_TICKS === 0;
  }

  reconcileSoon() {
    if (this.reconcileTimer) return;
    this.reconcileTimer = window.setTimeout(() => void this.reconcile(), FEW_MS);
  }

  /** Read the list: it has what events do not say, and what was missed. */
  async reconcile() {
    if (this.isReconciling || document.hidden) return;
    this.isReconciling = true;
    window.clearTimeout(this.reconcileTimer);
    this.reconcileTimer = 0;
    const requestedMs = Date.now();
    try {
      const { data, total } = await get(CALLS, { limit: MAX_ROWS });
      this.calls.reconcile(data, requestedMs, total <= MAX_ROWS);
      this.total = total;
      this.isLoaded = true;
      this.error = null;
    } catch (error) {
      this.error = error;
    } finally {
      this.isReconciling = false;
      this.renderSoon();
    }
  }

  render() {
    const matching = this.calls.matching(this.filters);
    const shown = this.showsAll ? matching : matching.slice(0, FIRST_ROWS);
    if (this.isTimeDue()) this.shownMs = Date.now();
    const counts = this.calls.counts();
    return html`
      <console-problem .error=${this.error}></console-problem>
      <div class="cards">${figures(counts)}</div>
      ${agentId && may("cdr:own") ? html`<agent-today></agent-today>` : nothing}
      <call-charts .live=${this.calls}></call-charts>
      ${this.renderFilters()}
      <p class="quiet" role="status">${this.renderStatus(matching.length, counts.live)}</p>
      <div class="scroll" tabindex="0" role="region" aria-label="Live calls">
        <table class="live stacked" role="table">
          <caption class="visually-hidden">Live calls</caption>
          <thead role="rowgroup">
            <tr role="row">
              <th role="columnheader" scope="col">Call</th><th role="columnheader" scope="col">From</th><th role="columnheader" scope="col">To</th>
              <th role="columnheader" scope="col">Direction</th><th role="columnheader" scope="col">State</th><th role="columnheader" scope="col">Agents</th>
              <th role="columnheader" scope="col" class="number">Time</th>
            </tr>
          </thead>
          <tbody role="rowgroup">
            ${repeat(shown, (each) => each.callId, (each) => row(each, this.shownMs))}
          </tbody>
        </table>
        ${shown.length ? nothing : html`<p class="empty">${this.emptyText(counts.live)}</p>`}
      </div>
      ${shown.length < matching.length
        ? html`<p class="row middle">The newest ${count(shown.length)} of ${count(matching.length)} are shown.
            <button @click=${() => (this.showsAll = true)}>Show all</button></p>`
        : nothing}
    `;
  }

  renderFilters() {
    const { number, agent, phase, direction } = this.filters;
    return html`
      <form class="row" role="search" aria-label="Live calls" @input=${this.filter}
        @submit=${(/** @type {Event} */ event) => event.preventDefault()}>
        <label>Number <input name="number" type="search" .value=${number ?? ""} /></label>
        <label>Agent <input name="agent" type="search" .value=${agent ?? ""} /></label>
        <label>State
          <select name="phase">
            <option value="">all</option>
            ${["ringing", "menu", "talking", "hold"].map(
              (each) => html`<option value=${each} ?selected=${each === phase}>
                ${PHASES[/** @type {import("../calls/live-calls.js").Phase} */ (each)][0]}
              </option>`,
            )}
          </select>
        </label>
        <label>Direction
          <select name="direction">
            <option value="">all</option>
            ${["inbound", "outbound"].map(
              (each) => html`<option value=${each} ?selected=${each === direction}>${each}</option>`,
            )}
          </select>
        </label>
      </form>
    `;
  }

  /** @param {Event} event */
  filter(event) {
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    this.filters = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, `${value}`]));
    const query = new URLSearchParams(Object.entries(this.filters).filter(([, value]) => value));
    history.replaceState(null, "", location.pathname + (query.size ? `?${query}` : ""));
  }

  /**
   * @param {number} shown
   * @param {number} live
   */
  renderStatus(shown, live) {
    if (may("calls") && this.stream === "lost") return "The connection is lost; the list may be old.";
    if (this.total > MAX_ROWS) return `The newest ${count(MAX_ROWS)} of ${count(this.total)} calls.`;
    return shown < live ? `${count(shown)} of ${count(live)} calls match.` : nothing;
  }

  /** @param {number} live */
  emptyText(live) {
    if (!this.isLoaded) return this.error ? "The calls cannot be read." : "Loading…";
    return live ? "No call matches." : "No call is live.";
  }
}

/** @param {ReturnType<LiveCalls["counts"]>} counts */
function figures(counts) {
  /** @type {[string, number][]} */
  const shown = [
    ["live", counts.live],
    ["ringing", counts.ringing],
    ["in menu", counts.menu],
    ["talking", counts.talking],
    ["on hold", counts.hold],
  ];
  return shown.map(
    ([name, value]) => html`<div class="card figure"><b>${count(value)}</b><span>${name}</span></div>`,
  );
}

/**
 * @param {import("../calls/live-calls.js").LiveCall} call
 * @param {number} nowMs
 */
function row(call, nowMs) {
  const phase = phaseOf(call);
  const [text, kind] = PHASES[phase];
  const detail = STATES[call.state];
  return html`
    <tr role="row" class=${phase === "ended" ? "faded" : ""} data-call=${call.callId}>
      <td role="cell" data-title="Call"><a class="mono" href="/console/calls/${encodeURIComponent(call.callId)}">${call.callId}</a></td>
      <td role="cell" data-title="From">${call.from}</td>
      <td role="cell" data-title="To">${call.to}</td>
      <td role="cell" data-title="Direction">${call.direction}</td>
      <td role="cell" data-title="State"><div>
        <span class="tag ${kind}">${text}</span>
        ${detail ? html`<span class="quiet">${detail}</span>` : nothing}
        ${renderFaults(call)}
      </div></td>
      <td role="cell" data-title="Agents" class=${call.agents.size ? "" : "vacant"}>${[...call.agents].join(", ")}</td>
      <td role="cell" class="number" data-title="Time">${duration((call.endedAtMs || nowMs) - call.createdMs)}</td>
    </tr>
  `;
}

customElements.define("call-list", CallList);
