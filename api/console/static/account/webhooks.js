// @ts-check
// <webhook-log>: attempts to reach the account's servers, with request and response.

import { html, nothing } from "../vendored/lit.js";
import { ListPage } from "../components/list-page.js";
import "../components/problem.js";
import { EventStream } from "../lib/event-stream.js";
import { count, dateTime } from "../lib/format.js";
import { pretty } from "../lib/json.js";
import { renderReason } from "../lib/reason.js";
import { get, post } from "../lib/rest.js";

const WEBHOOKS = "/srmain/voice/webhooks";
const REFRESH_MS = 1_000; // of a log that is followed, at most so often
const KINDS = ["action", "gather", "callback", "request"];

/** @param {string[]} values */
const choices = (values) => [
  { value: "", label: "any" },
  ...values.map((value) => ({ value, label: value })),
];

/** @type {import("../components/filter-form.js").FilterField[]} */
const FILTERS = [
  { name: "callId", label: "Call" },
  { name: "kind", label: "Kind", type: "select", options: choices(KINDS) },
  { name: "outcome", label: "Outcome", type: "select", options: choices(["failed", "succeeded"]) },
];

export class WebhookLog extends ListPage {
  static properties = {
    follow: { state: true },
    attempt: { state: true },
    error: { state: true },
    busy: { state: true },
  };

  constructor() {
    super();
    this.follow = false;
    /** @type {EventStream | null} */
    this.events = null;
    this.timer = 0;
    /** The attempt that is shown. @type {any} */
    this.attempt = null;
    /** @type {unknown} */
    this.error = null;
    this.busy = false;
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.events?.close();
    window.clearTimeout(this.timer);
  }

  render() {
    return html`
      ${this.renderFilters(FILTERS)}
      <div class="row middle page-head">
        <label class="inline">
          <input type="checkbox" .checked=${this.follow} @change=${this.toggleFollow} />
          Show new attempts as they happen
        </label>
      </div>
      <console-problem .error=${this.error}></console-problem>
      ${this.attempt ? this.renderAttempt(this.attempt) : nothing}
      ${this.filters === null
        ? nothing
        : html`<data-table
            label="Attempts"
            path=${WEBHOOKS}
            .query=${this.filters}
            .columns=${COLUMNS}
            .rowClass=${(/** @type {any} */ row) => (row.id === this.attempt?.id ? "chosen" : "")}
            .actions=${this.renderActions.bind(this)}
            empty="No attempt matches. The log has those of the last day."
            @problem=${this.showProblem}
          ></data-table>`}
      ${this.renderDialogs()}
    `;
  }

  /** @param {any} row */
  renderActions(row) {
    return html`<button aria-label="Show attempt ${row.id}" @click=${() => this.open(row.id)}>Show</button>`;
  }

  /** @param {any} attempt */
  renderAttempt(attempt) {
    return html`
      <section class="card stack page-head" aria-labelledby="attempt-heading">
        <div class="row spread">
          <h2 id="attempt-heading" tabindex="-1">${attempt.method} <span class="break">${attempt.url}</span></h2>
          <span class="row">
            <button class="primary" ?disabled=${this.busy} @click=${this.retry}>Retry</button>
            <button @click=${() => (this.attempt = null)}>Close</button>
          </span>
        </div>
        <dl class="facts">
          <dt>Outcome</dt>
          <dd>${outcome(attempt)} ${renderReason(attempt.reason)}</dd>
          <dt>Attempt</dt>
          <dd>${attempt.attempt}, of the request <code>${attempt.requestId}</code>
            ${attempt.retryOf ? html`, which repeats <code>${attempt.retryOf}</code>` : nothing}</dd>
          <dt>Time</dt>
          <dd>${dateTime(attempt.time)}, ${count(attempt.tookMs)} ms</dd>
          ${attempt.callId
            ? html`<dt>Call</dt>
                <dd><a href="/console/calls/${encodeURIComponent(attempt.callId)}">${attempt.callId}</a></dd>`
            : nothing}
          ${attempt.toListener ? html`<dt>Sent to</dt><dd>a listener, instead of the address</dd>` : nothing}
        </dl>
        <div class="halves">
          <div>${message("Request", attempt.requestHeaders, attempt.requestBody)}</div>
          <div>${message(`Response ${attempt.status || "(none)"}`, attempt.responseHeaders, attempt.responseBody)}</div>
        </div>
      </section>
    `;
  }

  /** @param {string} id */
  async open(id) {
    await this.attempted(async () => await get(`${WEBHOOKS}/${encodeURIComponent(id)}`));
  }

  async retry() {
    const path = `${WEBHOOKS}/${encodeURIComponent(this.attempt.id)}/retry`;
    await this.attempted(async () => await post(path));
    if (!this.error) await this.finish("The request was sent again. Its attempt is shown here; no call changes.");
  }

  /** @param {() => Promise<any>} action that returns the attempt to show */
  async attempted(action) {
    this.busy = true;
    this.done = "";
    try {
      this.attempt = await action();
      this.error = null;
      await this.updateComplete;
      /** @type {HTMLElement | null} */ (this.querySelector("#attempt-heading"))?.focus();
    } catch (error) {
      this.error = error;
    } finally {
      this.busy = false;
    }
  }

  /** @param {Event} event */
  toggleFollow(event) {
    this.follow = /** @type {HTMLInputElement} */ (event.target).checked;
    this.events?.close();
    this.events = null;
    if (!this.follow) return;
    this.events = new EventStream(`${WEBHOOKS}/events`, () => this.refreshSoon());
    this.events.run().catch((error) => (this.error = error));
  }

  refreshSoon() {
    if (this.timer) return;
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      void this.table()?.reload();
    }, REFRESH_MS);
  }
}

/**
 * @param {string} title
 * @param {Record<string, string>} headers
 * @param {{text: string, truncated?: boolean}} body
 */
function message(title, headers, body) {
  return html`
    <h3>${title}</h3>
    <details>
      <summary>${Object.keys(headers).length} headers</summary>
      <pre tabindex="0">${Object.entries(headers).map(([name, value]) => `${name}: ${value}`).join("\n")}</pre>
    </details>
    ${body.text ? html`<pre tabindex="0" aria-label="Body of the ${title}">${pretty(body.text)}</pre>` : html`<p class="quiet">No body.</p>`}
    ${body.truncated ? html`<p class="hint">The log has only the beginning.</p>` : nothing}
  `;
}

/** @param {any} row */
function outcome(row) {
  const kind = row.outcome === "failed" ? "bad" : "good";
  return html`<span class="tag ${kind}">${row.outcome}</span> ${row.status || nothing}`;
}

/** @type {import("../components/data-table.js").Column[]} */
const COLUMNS = [
  { title: "Time", cell: (row) => dateTime(row.time) },
  { title: "Kind", cell: (row) => row.kind },
  { title: "Address", cell: (row) => html`<span class="break">${row.method} ${row.url}</span>` },
  { title: "Outcome", cell: outcome },
  { title: "Took (ms)", number: true, cell: (row) => count(row.tookMs) },
  { title: "Attempt", number: true, cell: (row) => row.attempt },
  { title: "Reason", cell: (row) => renderReason(row.reason) },
  {
    title: "Call",
    cell: (row) =>
      row.callId
        ? html`<a class="break" href="/console/calls/${encodeURIComponent(row.callId)}">${row.callId}</a>`
        : "",
  },
];

customElements.define("webhook-log", WebhookLog);
