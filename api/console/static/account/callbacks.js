// @ts-check
// <callback-page>: where status callbacks are sent, and the events that were given up.

import { html, nothing } from "../vendored/lit.js";
import { ListPage } from "../components/list-page.js";
import "../components/problem.js";
import "../components/secret-values.js";
import { dateTime } from "../lib/format.js";
import { stringify } from "../lib/json.js";
import { may } from "../lib/page.js";
import { renderReason } from "../lib/reason.js";
import { del, getTagged, post, put, RestError } from "../lib/rest.js";

const CALLBACKS = "/srmain/voice/callbacks";

/** @type {import("../forms/values.js").Field[]} */
const FIELDS = [
  {
    name: "target",
    label: "Target",
    hint: "An https address, grpc://host:port, or the id of an API request. Empty: no event is sent.",
    maxLength: 2048,
  },
  {
    name: "concurrency",
    label: "Requests at once",
    type: "number",
    min: 1,
    max: 256,
    required: true,
    hint: "Of each engine. The events of one call are always in order.",
  },
  {
    name: "perS",
    label: "Requests per second",
    type: "number",
    min: 0,
    step: "any",
    hint: "Of each engine. Empty: no limit.",
  },
];

export class CallbackPage extends ListPage {
  static properties = {
    settings: { state: true },
    isRead: { state: true },
    error: { state: true },
    resendError: { state: true },
    test: { state: true },
  };

  constructor() {
    super();
    /** null: there are none yet. @type {any} */
    this.settings = null;
    this.etag = "";
    this.isRead = false;
    /** @type {unknown} */
    this.error = null;
    /** @type {unknown} */
    this.resendError = null;
    /** @type {any} */
    this.test = null;
  }

  connectedCallback() {
    super.connectedCallback();
    void this.read();
  }

  async read() {
    try {
      const { value, etag } = await getTagged(CALLBACKS);
      this.settings = value;
      this.etag = etag;
      this.error = null;
    } catch (error) {
      this.settings = null;
      this.error = error instanceof RestError && error.status === 404 ? null : error;
    }
    this.isRead = true;
  }

  render() {
    return html`
      <console-problem .error=${this.error}></console-problem>
      ${this.isRead && !this.error ? this.renderTarget() : nothing}
      <h2>Dead letters</h2>
      <p class="quiet">Events that no server accepted in 24 hours, or that had no way to it.</p>
      ${may("routes:write")
        ? html`<div class="row page-head"><button @click=${this.resendAll}>Resend all</button></div>`
        : nothing}
      <console-problem .error=${this.resendError}></console-problem>
      <data-table
        label="Dead letters"
        path="${CALLBACKS}/dead-letters"
        .limit=${0}
        .columns=${COLUMNS}
        .actions=${this.renderActions.bind(this)}
        empty="No event was given up."
      ></data-table>
      ${this.renderDialogs()}
    `;
  }

  renderTarget() {
    const { settings } = this;
    if (settings === null) {
      return html`<div class="card stack">
        <p>Status callbacks are sent nowhere yet. With a target, your server gets an event for each step of each call, signed.</p>
        ${may("routes:write")
          ? html`<p><button class="primary" @click=${this.edit}>Set a target</button></p>`
          : nothing}
      </div>`;
    }
    return html`<div class="card stack">
      <dl class="facts">
        <dt>Target</dt>
        <dd>${settings.target ?? html`<span class="quiet">none</span>`}
          ${settings.stopped ? html`<span class="tag bad">stopped: it returned 410</span>` : nothing}</dd>
        <dt>Requests at once</dt>
        <dd>${settings.concurrency}</dd>
        <dt>Requests per second</dt>
        <dd>${settings.perS ?? "no limit"}</dd>
        <dt>Secret</dt>
        <dd>number ${settings.secretNumber}, created ${dateTime(settings.secretCreatedTime)}</dd>
        ${settings.previousSecretUntil
          ? html`<dt>Secret before</dt>
              <dd>signs, too, until ${dateTime(settings.previousSecretUntil)}</dd>`
          : nothing}
      </dl>
      ${may("routes:write")
        ? html`<div class="row">
            <button class="primary" @click=${this.edit}>Edit</button>
            ${settings.stopped ? html`<button @click=${this.restart}>Restart delivery</button>` : nothing}
            <button ?disabled=${!settings.target} @click=${this.sendTest}>Send a test event</button>
            <button @click=${this.rotate}>Rotate the secret</button>
            <button class="danger" @click=${this.erase}>Delete</button>
          </div>`
        : nothing}
      ${this.renderTest()}
    </div>`;
  }

  renderTest() {
    const { test } = this;
    if (test === null) return nothing;
    if (test instanceof Error) return html`<console-problem .error=${test}></console-problem>`;
    return html`<p role="status" class=${test.delivered ? "notice" : "problem"}>
      ${test.delivered
        ? `The target accepted the test event in ${test.tookMs} ms.`
        : html`The target did not accept the test event: ${renderReason(test.reason)}`}
      <code>${test.eventId}</code>
    </p>`;
  }

  /** @param {any} letter */
  renderActions(letter) {
    return html`
      <button aria-label="Show ${letter.eventId}" @click=${() => this.show("Event", html`
        <p>Given up after ${letter.attempts} attempts: ${renderReason(letter.reason)}</p>
        <pre tabindex="0">${stringify(letter.event, 2)}</pre>`)}>Show</button>
      ${may("routes:write")
        ? html`<button aria-label="Resend ${letter.eventId}" @click=${() => this.resend(letter)}>Resend</button>`
        : nothing}
    `;
  }

  async edit() {
    const form = {
      heading: "Status callbacks",
      submit: "Save",
      fields: FIELDS,
      save: async (/** @type {any} */ values) =>
        await put(CALLBACKS, values, this.settings ? { "If-Match": this.etag } : { "If-None-Match": "*" }),
      reload: async () => (await this.read(), this.settings ?? {}),
    };
    const saved = await this.ask(form, this.settings ?? { concurrency: 32 }, "The target is saved.");
    if (saved === null) return;
    await this.read();
    if (saved.secret) await this.showSecret(saved.secret);
  }

  async restart() {
    const { target, concurrency, perS } = this.settings;
    const isDone = await this.confirm({
      heading: "Restart delivery?",
      text: "Delivery stopped because the target returned 410 (Gone). New events are sent to it again; dead letters when you resend them.",
      action: "Restart",
      isSafe: true,
      run: () => put(CALLBACKS, { target, concurrency, perS }, { "If-Match": this.etag }),
      done: "Delivery is restarted.",
    });
    if (isDone) await this.read();
  }

  async sendTest() {
    try {
      this.test = await post(`${CALLBACKS}/test`);
    } catch (error) {
      this.test = error;
    }
  }

  async rotate() {
    let secret = "";
    const isDone = await this.confirm({
      heading: "Rotate the secret?",
      text: "A new secret signs from now on. The present one signs, too, for a day: until then your server can change.",
      action: "Rotate",
      isSafe: true,
      run: async () => {
        secret = (await post(`${CALLBACKS}/rotate`, {}, { "If-Match": this.etag })).secret;
      },
      done: "The secret is rotated.",
    });
    if (!isDone) return;
    await this.read();
    await this.showSecret(secret);
  }

  /** @param {string} secret */
  async showSecret(secret) {
    const values = [{ label: "Secret", value: secret }];
    await this.show("The secret that signs", html`<secret-values .values=${values}></secret-values>`);
  }

  async erase() {
    const isDone = await this.confirm({
      heading: "Delete the callbacks?",
      text: "No event is sent any more, and the secrets are deleted at once.",
      action: "Delete",
      run: () => del(CALLBACKS, { "If-Match": this.etag }),
      done: "The target is deleted.",
    });
    if (isDone) await this.read();
  }

  /** @param {any} letter */
  async resend(letter) {
    await this.sendAgain({ ids: [letter.id] });
  }

  async resendAll() {
    await this.confirm({
      heading: "Resend all dead letters?",
      text: "They are queued again, and sent to the present target.",
      action: "Resend all",
      isSafe: true,
      run: () => post(`${CALLBACKS}/resend`, { all: true }),
      done: "The dead letters are queued.",
    });
  }

  /** @param {any} request */
  async sendAgain(request) {
    try {
      const { resent } = await post(`${CALLBACKS}/resend`, request);
      await this.finish(resent ? "The event is queued." : "The event is not there any more.");
      this.resendError = null;
    } catch (error) {
      this.resendError = error;
    }
  }
}

/** @type {import("../components/data-table.js").Column[]} */
const COLUMNS = [
  { title: "Given up", cell: (row) => dateTime(row.givenUpTime) },
  { title: "Event", cell: (row) => html`<code class="break">${row.eventId}</code>` },
  { title: "Call", cell: (row) => html`<a href="/console/calls/${encodeURIComponent(row.callId)}">${row.callId}</a>` },
  { title: "Target", cell: (row) => html`<span class="break">${row.target}</span>` },
  { title: "Attempts", number: true, cell: (row) => row.attempts },
  { title: "Reason", cell: (row) => renderReason(row.reason) },
];

customElements.define("callback-page", CallbackPage);
