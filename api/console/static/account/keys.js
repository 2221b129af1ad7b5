// @ts-check
// <key-list>: the API keys of the account, and what they may do.

import { html, nothing } from "../vendored/lit.js";
import { ListPage } from "../components/list-page.js";
import "../components/secret-values.js";
import { dateTime } from "../lib/format.js";
import { may } from "../lib/page.js";
import { del, post } from "../lib/rest.js";
import { BUNDLES, SCOPES } from "./scopes.js";

const KEYS = "/srmain/keys";
const SINGLE = "single";

/** @type {import("../forms/values.js").Field[]} */
const FIELDS = [
  {
    name: "bundle",
    label: "Rights",
    type: "select",
    options: [
      { value: "", label: "the usual ones: integrator, or agent for an agent's key" },
      ...Object.entries(BUNDLES).map(([value, text]) => ({ value, label: `${value}: ${text}` })),
      { value: SINGLE, label: "single scopes" },
    ],
    path: "scopes",
  },
  {
    name: "scopes",
    label: "Scopes",
    type: "choices",
    options: Object.entries(SCOPES)
      .filter(([value]) => may(value)) // none can give another key what it lacks
      .map(([value, hint]) => ({ value, label: value, hint })),
    shown: (values) => values.bundle === SINGLE,
  },
  {
    name: "agentId",
    label: "Agent",
    maxLength: 64,
    hint: "Only for a key of one agent: requests with it act as that agent.",
  },
  {
    name: "networks",
    label: "Networks",
    type: "list",
    rows: 2,
    placeholder: "192.0.2.0/24",
    hint: "One a line. Empty: the key works from all networks.",
  },
  { name: "days", label: "Days until it expires", type: "number", min: 1, max: 3650, hint: "Empty: it does not expire." },
];

/** @type {import("../forms/values.js").Field[]} */
const ROTATE_FIELDS = [
  {
    name: "overlapS",
    label: "Seconds for which the old key works on",
    type: "number",
    min: 0,
    max: 2_592_000,
    required: true,
    hint: "3,600 is an hour: until then, give the new key to those who use the old one.",
  },
  {
    name: "days",
    label: "Days until the new key expires",
    type: "number",
    min: 1,
    max: 3650,
    hint: "Empty: as long as the old one.",
  },
];

export class KeyList extends ListPage {
  render() {
    return html`
      <div class="row middle spread page-head">
        <p class="quiet">
          A program sends its key, or a token that it got for key and secret, with each request.
          You see here the ids of keys; the keys themselves are shown once.
        </p>
        <button class="primary" @click=${this.create}>New key</button>
      </div>
      <data-table
        label="Keys"
        path=${KEYS}
        .limit=${0}
        .columns=${COLUMNS}
        .actions=${this.renderActions.bind(this)}
        .rowClass=${(/** @type {any} */ row) => (row.isExpired ? "quiet" : "")}
        empty="There is no key."
      ></data-table>
      ${this.renderDialogs()}
      ${renderScopes()}
    `;
  }

  /** @param {any} key */
  renderActions(key) {
    if (key.isExpired) return nothing;
    return html`
      <button aria-label="Rotate ${key.id}" @click=${() => this.rotate(key)}>Rotate</button>
      <button class="danger" aria-label="Revoke ${key.id}" @click=${() => this.revoke(key)}>Revoke</button>
    `;
  }

  async create() {
    const form = {
      heading: "New key",
      submit: "Create",
      fields: FIELDS,
      save: async (/** @type {any} */ values) => await post(KEYS, toRequest(values)),
    };
    await this.showCreated(await this.ask(form, {}, "The key is created."));
  }

  /** @param {any} key */
  async rotate(key) {
    const form = {
      heading: `Rotate key ${key.id}`,
      submit: "Rotate",
      note: html`<p>A new key with the same rights. The old one expires after the time below.</p>`,
      fields: ROTATE_FIELDS,
      save: async (/** @type {any} */ { overlapS, days }) =>
        await post(`${KEYS}/${encodeURIComponent(key.id)}/rotate`, { overlapS, ...(days && { days }) }),
    };
    await this.showCreated(await this.ask(form, { overlapS: 3_600 }, "The key is rotated."));
  }

  /** @param {any} created */
  async showCreated(created) {
    if (created === null) return;
    const values = [
      { label: "API key", value: created.apiKey },
      { label: "API secret", value: created.apiSecret },
    ];
    await this.show(`Key ${created.id}`, html`<secret-values .values=${values}></secret-values>`);
  }

  /** @param {any} key */
  async revoke(key) {
    await this.confirm({
      heading: `Revoke key ${key.id}?`,
      text: "Within two seconds the key, its tokens and its sessions of this console are rejected. If it is the key that you have signed in with, this session ends, too.",
      action: "Revoke",
      run: () => del(`${KEYS}/${encodeURIComponent(key.id)}`),
      done: "The key is revoked.",
    });
  }
}

/** @param {any} values */
function toRequest({ bundle, scopes, agentId, networks, days }) {
  return {
    scopes: bundle === SINGLE ? (scopes ?? []) : bundle ? [bundle] : [],
    networks,
    ...(agentId && { agentId }),
    ...(days && { days }),
  };
}

function renderScopes() {
  /** @param {[string, string]} each */
  const row = ([name, text]) => html`<tr><td><code>${name}</code></td><td>${text}</td></tr>`;
  return html`
    <h2>What keys may do</h2>
    <details class="card">
      <summary>Bundles and scopes</summary>
      <h3>Bundles</h3>
      <table>
        <thead><tr><th scope="col">Bundle</th><th scope="col">What it allows</th></tr></thead>
        <tbody>${Object.entries(BUNDLES).map(row)}</tbody>
      </table>
      <h3>Scopes</h3>
      <table>
        <thead><tr><th scope="col">Scope</th><th scope="col">What it allows</th></tr></thead>
        <tbody>${Object.entries(SCOPES).map(row)}</tbody>
      </table>
    </details>
  `;
}

/** @type {import("../components/data-table.js").Column[]} */
const COLUMNS = [
  { title: "Id", cell: (row) => html`<code>${row.id}</code>` },
  { title: "Rights", cell: (row) => html`<span class="tags">${row.scopes.map((/** @type {string} */ each) => html`<span class="tag">${each}</span>`)}</span>` },
  { title: "Agent", cell: (row) => row.agentId ?? "" },
  { title: "Networks", cell: (row) => row.networks.join(", ") || html`<span class="quiet">all</span>` },
  { title: "Created", cell: (row) => dateTime(row.createdTime) },
  { title: "Last used", cell: (row) => (row.lastUsedTime ? dateTime(row.lastUsedTime) : html`<span class="quiet">never</span>`) },
  {
    title: "Expires",
    cell: (row) =>
      row.isExpired
        ? html`<span class="tag bad">expired</span> ${dateTime(row.expiryTime)}`
        : row.expiryTime
          ? dateTime(row.expiryTime)
          : html`<span class="quiet">never</span>`,
  },
];

customElements.define("key-list", KeyList);
