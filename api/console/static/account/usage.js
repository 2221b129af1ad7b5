// @ts-check
// <account-usage>: what the account has used each day, its limits and its settings.

import { html, nothing } from "../vendored/lit.js";
import "../components/bar-chart.js";
import { ListPage } from "../components/list-page.js";
import "../components/problem.js";
import { count, size } from "../lib/format.js";
import { may } from "../lib/page.js";
import { get, getTagged, patch } from "../lib/rest.js";
import { everyDay } from "./usage-days.js";

const ACCOUNT = "/srmain/account";
const USUAL_DAYS = 30;
const DAY_MS = 86_400_000;

/** @type {import("../components/filter-form.js").FilterField[]} */
const FILTERS = [
  { name: "startDate", label: "First day (UTC)", type: "date" },
  { name: "endDate", label: "Last day (UTC)", type: "date" },
  {
    name: "show",
    label: "Chart",
    type: "select",
    options: [
      { value: "calls", label: "calls" },
      { value: "minutes", label: "minutes" },
      { value: "legs", label: "legs" },
      { value: "messages", label: "messages" },
    ],
  },
];
/** @type {import("../forms/values.js").Field[]} */
const SETTINGS = [
  { name: "name", label: "Name", required: true, maxLength: 128 },
  { name: "region", label: "Region", maxLength: 2, placeholder: "NO", hint: "The country (ISO 3166) of numbers that are written without one." },
  { name: "email", label: "E-mail address", type: "email", maxLength: 254, hint: "Where exports of contacts are sent." },
  ...[
    ["keepRecordsDays", "Days for which call records are kept"],
    ["keepDigitsDays", "Days for which pressed digits are kept"],
    ["keepRecordingsDays", "Days for which recordings are kept"],
  ].map(([name = "", label = ""]) => ({
    name,
    label,
    type: /** @type {const} */ ("number"),
    min: 1,
    max: 36_500,
    hint: "Empty: until they are erased. A smaller number deletes what is older within an hour.",
  })),
];
/** @type {[string, string, (value: any) => string][]} */
const LIMITS = [
  ["maxCalls", "Live calls", limit],
  ["maxCallsPerS", "New calls per second", limit],
  ["maxLiveLegs", "Live dialled legs", limit],
  ["maxLegsPerS", "Dialled legs per second", limit],
  ["maxMinutesPerDay", "Minutes of dialled legs per day", limit],
  ["maxLegsPerCall", "Legs that a call dials", limit],
  ["destinations", "May call", (value) => (value === null ? "any number" : list(value))],
  ["denied", "May not call", list],
  ["numberTypes", "Costly numbers that may be called", list],
  ["recognizers", "Recognizers", (value) => (value === null ? "any" : list(value))],
  ["trunks", "Trunks", (value) => (value.length ? list(value) : "those of the engines")],
  ["apiRequestsPerS", "Requests to this API per second", limit],
  ["maxKeys", "Keys", limit],
  ["maxJobs", "Jobs at once", limit],
  ["maxContactLists", "Contact lists", limit],
  ["maxContacts", "Contacts", limit],
  ["maxContactBytes", "Size of contacts", size],
  ["maxStoredBytes", "Stored files", size],
  ["maxDocuments", "Flows, and documents of each other kind", limit],
  ["maxDocumentBytes", "Their size, of each kind", size],
];

export class AccountUsage extends ListPage {
  static properties = {
    account: { state: true },
    usage: { state: true },
    shown: { state: true },
    error: { state: true },
  };

  constructor() {
    super();
    /** @type {any} */
    this.account = null;
    this.etag = "";
    /** @type {any} */
    this.usage = null;
    this.shown = "calls";
    /** @type {unknown} */
    this.error = null;
  }

  connectedCallback() {
    super.connectedCallback();
    void this.read();
  }

  async read() {
    try {
      const { value, etag } = await getTagged(ACCOUNT);
      this.account = value;
      this.etag = etag;
    } catch (error) {
      this.error = error;
    }
  }

  /** @param {Record<string, string>} filters */
  async filter({ show, ...dates }) {
    this.shown = show ?? "calls";
    const startDate = dates.startDate ?? dayOf(Date.now() - USUAL_DAYS * DAY_MS);
    const endDate = dates.endDate ?? dayOf(Date.now());
    try {
      const { data, total } = await get(`${ACCOUNT}/usage`, { startDate, endDate });
      this.usage = { data: everyDay(data, startDate, endDate), total };
      this.listError = null;
    } catch (error) {
      this.listError = error;
    }
  }

  render() {
    return html`
      <console-problem .error=${this.error}></console-problem>
      ${this.renderFilters(FILTERS)}
      <console-problem .error=${this.listError}></console-problem>
      ${this.usage ? this.renderUsage() : html`<p class="quiet" role="status">Loading…</p>`}
      ${this.account ? this.renderAccount() : nothing}
      ${this.renderDialogs()}
    `;
  }

  renderUsage() {
    const { data, total } = this.usage;
    const { shown } = this;
    const bars = data.map((/** @type {any} */ day) => ({
      label: dayText(day.date),
      value: day[shown],
      ...(shown === "calls" && { part: day.answeredCalls }),
    }));
    return html`
      <div class="cards">
        ${figure(total.calls, "calls")} ${figure(total.answeredCalls, "answered")}
        ${figure(total.minutes, "minutes")} ${figure(total.legs, "legs")} ${figure(total.messages, "messages")}
      </div>
      <div class="card page-head">
        <bar-chart label="${shown} of each day" .bars=${bars} .format=${(/** @type {number} */ value) => count(value)}></bar-chart>
        ${shown === "calls" ? html`<p class="hint"><span class="key part"></span> answered calls <span class="key whole"></span> other calls</p>` : nothing}
      </div>
      <details>
        <summary>Days as a table</summary>
        <data-table label="Usage of each day" .rows=${[...data].reverse()} .columns=${DAY_COLUMNS} empty="No day has usage."></data-table>
      </details>
    `;
  }

  renderAccount() {
    const { account } = this;
    return html`
      <div class="halves">
        <section aria-labelledby="settings-heading">
          <h2 id="settings-heading">Settings</h2>
          <div class="card stack">
            <dl class="facts">
              <dt>Account</dt>
              <dd><code>${account.id}</code></dd>
              ${SETTINGS.map((each) => html`<dt>${each.label}</dt><dd>${account[each.name] ?? html`<span class="quiet">not set</span>`}</dd>`)}
            </dl>
            ${may("account:write") ? html`<p><button class="primary" @click=${this.edit}>Edit settings</button></p>` : nothing}
          </div>
        </section>
        <section aria-labelledby="limits-heading">
          <h2 id="limits-heading">Limits</h2>
          <div class="card">
            <dl class="facts">
              ${LIMITS.map(([name, label, text]) => html`<dt>${label}</dt><dd>${text(account.limits[name])}</dd>`)}
            </dl>
            <p class="hint">The operator sets them.</p>
          </div>
        </section>
      </div>
    `;
  }

  async edit() {
    const form = {
      heading: "Settings of the account",
      submit: "Save",
      fields: SETTINGS,
      save: async (/** @type {any} */ values) => await patch(ACCOUNT, values, { "If-Match": this.etag }),
      reload: async () => (await this.read(), this.account),
    };
    if ((await this.ask(form, this.account, "The settings are saved.")) !== null) await this.read();
  }
}

/** @param {number} atMs */
function dayOf(atMs) {
  return new Date(atMs).toISOString().slice(0, 10);
}

/**
 * @param {number} value
 * @param {string} text
 */
function figure(value, text) {
  return html`<div class="card figure"><b>${count(value)}</b><span>${text}</span></div>`;
}

/** @param {number | null} value */
function limit(value) {
  return value === null ? "no limit" : count(value);
}

/** @param {string[]} values */
function list(values) {
  return values.join(", ") || "none";
}

/** @param {string} date */
function dayText(date) {
  return new Date(`${date}T00:00:00Z`).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
}

/** @type {import("../components/data-table.js").Column[]} */
const DAY_COLUMNS = [
  { title: "Day (UTC)", cell: (row) => row.date },
  ...["calls", "answeredCalls", "minutes", "legs", "messages"].map((name) => ({
    title: name === "answeredCalls" ? "Answered" : name.charAt(0).toUpperCase() + name.slice(1),
    number: true,
    cell: (/** @type {any} */ row) => count(row[name]),
  })),
];

customElements.define("account-usage", AccountUsage);
