// @ts-check
// <agent-list>: the agents of the account, with the presence of their phones.

import { html, nothing } from "../vendored/lit.js";
import { ListPage } from "../components/list-page.js";
import { endpointOf } from "../lib/browser-agent.js";
import { dateTime } from "../lib/format.js";
import { may } from "../lib/page.js";
import { del, get, put } from "../lib/rest.js";

const AGENTS = "/srmain/voice/agents";
const REFRESH_MS = 5_000;
/** @type {Record<string, [string, string]>} */
const PRESENCE = {
  online: ["good", "online"],
  offline: ["", "offline"],
  unknown: ["warn", "unknown"],
};

/** @type {Record<string, string>} */
const PHONES = { sip: "SIP", browser: "browser" };

/** @type {import("../forms/values.js").Field[]} */
const FIELDS = [
  {
    name: "agentId",
    label: "Id",
    required: true,
    maxLength: 64,
    hint: "Letters, digits, _ and -, such as 1001. Trees dial it as agent:1001.",
  },
  { name: "name", label: "Name", maxLength: 128 },
  {
    name: "endpoint",
    label: "Endpoint",
    hint: "The phone at the PBX, such as PJSIP/acme-ada; empty: one of the account and the agent.",
  },
  {
    name: "phone",
    label: "Phone",
    type: "select",
    options: [
      { value: "sip", label: "SIP phone" },
      { value: "browser", label: "browser" },
    ],
    hint: "What the endpoint is made for. A change deletes the phone's password.",
  },
  {
    name: "callerId",
    label: "Caller id",
    hint: "The account's number that is shown to those whom the agent calls.",
  },
];
/** @type {import("../forms/values.js").Field[]} */
const CHANGED_FIELDS = FIELDS.map((each) => {
  if (each.name === "agentId") return { ...each, fixed: true };
  return each.name === "endpoint" ? { ...each, required: true, hint: "The phone at the PBX, such as PJSIP/acme-ada." } : each;
});
/** @type {import("../forms/values.js").Field[]} */
const PASSWORD_FIELDS = [
  {
    name: "password",
    label: "Password",
    type: "password",
    required: true,
    autocomplete: "new-password",
    hint: "16 to 128 letters, digits and signs. The phone registers with it; it replaces the one before.",
  },
];

/** @param {string} id */
const pathOf = (id) => `${AGENTS}/${encodeURIComponent(id)}`;

export class AgentList extends ListPage {
  constructor() {
    super();
    this.timer = 0;
  }

  connectedCallback() {
    super.connectedCallback();
    this.timer = window.setInterval(() => document.hidden || void this.table()?.reload(), REFRESH_MS);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    window.clearInterval(this.timer);
  }

  render() {
    return html`
      <div class="row middle spread page-head">
        <p class="quiet">Phones, and who is at them. The list is read again every five seconds.</p>
        ${may("agents:write") ? html`<button class="primary" @click=${this.create}>New agent</button>` : nothing}
      </div>
      <data-table
        label="Agents"
        path=${AGENTS}
        .query=${{ withPresence: true }}
        .columns=${COLUMNS}
        .actions=${may("agents:write") ? this.renderActions.bind(this) : null}
        empty="There is no agent yet. An agent is a person with a phone that calls can ring."
      ></data-table>
      ${this.renderDialogs()}
    `;
  }

  /** @param {any} agent */
  renderActions(agent) {
    const who = agent.name || agent.agentId;
    return html`
      <button aria-label="Edit ${who}" @click=${() => this.edit(agent)}>Edit</button>
      ${agent.phone === "sip"
        ? html`<button aria-label="Password of ${who}" @click=${() => this.setPassword(agent)}>Password</button>`
        : nothing}
      <button class="danger" aria-label="Delete ${who}" @click=${() => this.erase(agent)}>Delete</button>
    `;
  }

  async create() {
    /** @param {any} values */
    const save = ({ agentId, endpoint, name, ...agent }) => {
      const body = { ...agent, endpoint: endpoint || endpointOf(agentId), name: name ?? "" };
      return put(pathOf(agentId), body, { "If-None-Match": "*" });
    };
    const form = { heading: "New agent", submit: "Create", fields: FIELDS, save };
    await this.ask(form, {}, "The agent is created. A SIP phone needs a password to register; a browser has none.");
  }

  /** @param {any} agent */
  async edit(agent) {
    const path = pathOf(agent.agentId);
    let tag = `"${agent.version}"`;
    const form = {
      heading: `Agent ${agent.agentId}`,
      submit: "Save",
      fields: CHANGED_FIELDS,
      /** @param {any} values */
      save: ({ agentId: _, ...changed }) => put(path, { ...changed, name: changed.name ?? "" }, { "If-Match": tag }),
      reload: async () => {
        const current = await get(path);
        tag = `"${current.version}"`;
        return current;
      },
    };
    await this.ask(form, agent, "The agent is saved.");
  }

  /** @param {any} agent */
  async setPassword(agent) {
    const form = {
      heading: `Password of agent ${agent.agentId}`,
      submit: "Set password",
      fields: PASSWORD_FIELDS,
      /** @param {any} values */
      save: (values) => put(`${pathOf(agent.agentId)}/password`, values),
    };
    await this.ask(form, {}, "The phone registers with its new password from now on.");
  }

  /** @param {any} agent */
  async erase(agent) {
    await this.confirm({
      heading: `Delete agent ${agent.agentId}?`,
      text: `${agent.name || "The agent"} and the password of the phone are deleted. Calls that dial the agent go on without it.`,
      action: "Delete",
      run: () => del(pathOf(agent.agentId), { "If-Match": `"${agent.version}"` }),
      done: "The agent is deleted.",
    });
  }
}

/** @type {import("../components/data-table.js").Column[]} */
const COLUMNS = [
  { title: "Id", cell: (row) => html`<code>${row.agentId}</code>` },
  { title: "Name", cell: (row) => row.name },
  { title: "Phone", cell: (row) => html`<code>${row.endpoint}</code> <span class="quiet">${PHONES[row.phone]}</span>` },
  { title: "Presence", cell: (row) => presence(row.state) },
  { title: "Call", cell: (row) => call(row.state) },
  { title: "Caller id", cell: (row) => row.callerId ?? "" },
  { title: "Changed", cell: (row) => dateTime(row.changedTime) },
];

/** @param {any} state */
function presence(state) {
  if (!state) return "";
  const [kind, text] = PRESENCE[state.presence] ?? ["", state.presence];
  return html`<span class="tag ${kind}">${text}</span>${state.nodes.length ? html` <span class="quiet">at ${state.nodes.join(", ")}</span>` : nothing}`;
}

/** @param {any} state */
function call(state) {
  if (!state?.busy) return "";
  if (!state.callId) return html`<span class="tag accent">busy</span>`;
  return html`<a href="/console/calls/${encodeURIComponent(state.callId)}">in a call</a>`;
}

customElements.define("agent-list", AgentList);
