// @ts-check
// <operations-page>: the whole installation, read again every five seconds while it is looked at.

import { html, nothing } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import "../components/confirm-dialog.js";
import "../components/data-table.js";
import "../components/problem.js";
import { count } from "../lib/format.js";
import { get, post } from "../lib/rest.js";
import { ALERTS, AUDIO_CACHES, ENGINES, NODES, SHARDS } from "./columns.js";
import "./doctor-results.js";
import "./store-state.js";

const BASE = "/srmain/operations";
const POLL_MS = 5_000;
const VIEWS = ["nodes", "engines", "store", "media", "alerts"];

export class OperationsPage extends ConsoleElement {
  static properties = {
    found: { state: true },
    errors: { state: true },
    done: { state: true },
  };

  constructor() {
    super();
    /** @type {Record<string, any>} what was read last, by view */
    this.found = {};
    /** @type {Record<string, unknown>} why a view could not be read */
    this.errors = {};
    this.done = "";
    this.timer = 0;
    this.isReading = false;
    this.onVisible = () => void this.refresh();
  }

  connectedCallback() {
    super.connectedCallback();
    this.timer = window.setInterval(() => void this.refresh(), POLL_MS);
    document.addEventListener("visibilitychange", this.onVisible);
    void this.refresh();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    window.clearInterval(this.timer);
    document.removeEventListener("visibilitychange", this.onVisible);
  }

  async refresh() {
    if (document.hidden || this.isReading) return;
    this.isReading = true;
    await Promise.all([...VIEWS.map((each) => this.read(each)), this.shards()?.reload()]);
    this.isReading = false;
  }

  /** @param {string} view */
  async read(view) {
    try {
      const found = await get(`${BASE}/${view}`);
      this.found = { ...this.found, [view]: found };
      this.errors = { ...this.errors, [view]: null };
    } catch (error) {
      this.errors = { ...this.errors, [view]: error };
    }
  }

  /** @returns {import("../components/data-table.js").DataTable | null} */
  shards() {
    return this.querySelector("data-table.shards");
  }

  render() {
    return html`
      <p class="quiet">All accounts together; it is read again every five seconds.</p>
      ${this.renderFigures()}
      <p role="status" class="done good">${this.done}</p>
      <confirm-dialog></confirm-dialog>
      ${this.renderTable("alerts", "Alerts", ALERTS, this.alertsText())}
      ${this.renderTable("nodes", "PBX nodes", NODES, "There is no PBX node.", (node) => this.renderAction(node))}
      ${this.renderTable("engines", "Engines", ENGINES, "No engine is live.")}
      <section>
        <h2>Shards</h2>
        <data-table class="shards" label="Shards" path="${BASE}/shards" .columns=${SHARDS} empty="There is no shard."></data-table>
      </section>
      <section>
        <h2>Store</h2>
        <console-problem .error=${this.errors.store}></console-problem>
        <store-state .state=${this.found.store ?? null}></store-state>
      </section>
      ${this.renderTable("media", "Audio cache", AUDIO_CACHES, "No engine responds.")}
      <section>
        <h2>Checks</h2>
        <doctor-results></doctor-results>
      </section>
    `;
  }

  renderFigures() {
    const { nodes, engines, alerts } = this.found;
    if (!nodes || !engines) return nothing;
    const isConnected = (/** @type {any} */ each) => each.connected;
    const isReady = (/** @type {any} */ each) => each.isReady;
    const calls = engines.data.reduce((/** @type {number} */ sum, /** @type {any} */ each) => sum + each.calls, 0);
    return html`
      <div class="cards">
        <div class="card figure"><b>${count(calls)}</b><span>live calls</span></div>
        ${share(nodes.data.filter(isConnected).length, nodes.total, "nodes connected")}
        ${share(engines.data.filter(isReady).length, engines.total, "engines ready")}
        ${alerts && !alerts.reason
          ? html`<div class="card figure">
              <b class=${alerts.total ? "bad" : "good"}>${count(alerts.total)}</b><span>alerts</span>
            </div>`
          : nothing}
      </div>
    `;
  }

  /**
   * @param {string} view
   * @param {string} heading
   * @param {import("../components/data-table.js").Column[]} columns
   * @param {string} empty
   * @param {((row: any) => unknown) | null} actions
   */
  renderTable(view, heading, columns, empty, actions = null) {
    const found = this.found[view];
    return html`
      <section>
        <h2>${heading}</h2>
        <console-problem .error=${this.errors[view]}></console-problem>
        ${found
          ? html`<data-table label=${heading} .rows=${found.data} .columns=${columns} .actions=${actions} empty=${empty}></data-table>`
          : nothing}
      </section>
    `;
  }

  alertsText() {
    const { alerts } = this.found;
    return alerts?.reason ? `The alerts are not known: ${alerts.reason}.` : "No alert fires.";
  }

  /** @param {any} node */
  renderAction(node) {
    const action = node.drained ? "Undrain" : "Drain";
    return html`<button aria-label="${action} ${node.name}" @click=${() => this.setDrained(node)}>${action}</button>`;
  }

  /** @param {any} node */
  async setDrained(node) {
    const { name, drained, calls } = node;
    const action = drained ? "Undrain" : "Drain";
    const path = `${BASE}/nodes/${encodeURIComponent(name)}/${action.toLowerCase()}`;
    this.done = "";
    const dialog = /** @type {import("../components/confirm-dialog.js").ConfirmDialog} */ (
      this.querySelector("confirm-dialog")
    );
    const isDone = await dialog.ask({
      heading: `${action} ${name}?`,
      text: drained
        ? "It gets new calls again."
        : `It gets no new calls. Its live calls (${count(calls)}) continue.`,
      action,
      isSafe: true,
      run: () => post(path),
    });
    if (!isDone) return;
    this.done = drained ? `${name} gets new calls.` : `${name} gets no new calls.`;
    await this.read("nodes");
  }
}

/**
 * @param {number} part
 * @param {number} total
 * @param {string} text
 */
function share(part, total, text) {
  const tone = part === total ? "good" : "bad";
  return html`<div class="card figure"><b class=${tone}>${count(part)} / ${count(total)}</b><span>${text}</span></div>`;
}

customElements.define("operations-page", OperationsPage);
