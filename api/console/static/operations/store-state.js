// @ts-check
// <store-state>: the store, and what waits for it or for customers' servers.

import { html, nothing } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import "../components/data-table.js";
import { count } from "../lib/format.js";
import { SERVERS, tag } from "./columns.js";

export class StoreState extends ConsoleElement {
  static properties = { state: { attribute: false } };

  constructor() {
    super();
    /** @type {any} a response of /srmain/operations/store */
    this.state = null;
  }

  render() {
    const { state } = this;
    if (state === null) return nothing;
    const groups = Object.entries(state.lagEvents);
    return html`
      <dl class="facts card">
        <dt>State</dt>
        <dd>${state.isReachable ? tag("good", "answers") : tag("bad", state.error)}</dd>
        ${state.isReachable
          ? html`<dt>Response time</dt>
              <dd>${state.latencyMs.toFixed(1)} ms</dd>`
          : nothing}
        <dt>Changes that wait</dt>
        <dd>${count(state.pendingChanges)}, the longest commit for ${count(state.lagMs)} ms</dd>
        <dt>Calls with callbacks that wait</dt>
        <dd>${count(state.pendingCallbacks)}</dd>
        <dt>Dead letters since the start</dt>
        <dd>${count(state.deadLettered)}</dd>
        <dt>Events that groups have not read</dt>
        <dd>
          ${groups.length
            ? groups.map(([name, lag]) => html`<div>${name}: ${count(/** @type {number} */ (lag))}</div>`)
            : "no group reads events"}
        </dd>
      </dl>
      <h3>Servers</h3>
      <data-table label="Servers of the store" .rows=${state.servers} .columns=${SERVERS} empty="No server answers."></data-table>
    `;
  }
}

customElements.define("store-state", StoreState);
