// @ts-check
// <number-list>: the numbers of the account, and what calls to them run.

import { html, nothing } from "../vendored/lit.js";
import "../editor/json-editor.js";
import { ListPage } from "../components/list-page.js";
import { dateTime } from "../lib/format.js";
import { may } from "../lib/page.js";
import { RestError, del, get, put } from "../lib/rest.js";
import { FLOWS } from "./flow-rest.js";
import { KINDS, describeRoute, fromForm, toForm } from "./route.js";

/**
 * @typedef {import("../forms/values.js").Field} Field
 * @typedef {import("../forms/values.js").Values} Values
 * @typedef {{number: string, route: import("./route.js").Route | null, version: number | null}} NumberRow
 * @typedef {{value: string, label: string}[]} Options
 */

const NUMBERS = "/srmain/voice/numbers";
const AGENTS = "/srmain/voice/agents";
const SCHEMA = "/docs/schemas/action.json";
const NEW_ROUTE = { action: "", answer: true, recordCall: false };

/** @param {string} number */
const pathOf = (number) => `${NUMBERS}/${encodeURIComponent(number)}/route`;

/**
 * @param {string} kind
 * @returns {(values: Values) => boolean}
 */
const isKind = (kind) => (values) => values.kind === kind;

export class NumberList extends ListPage {
  render() {
    return html`
      <div class="row middle spread page-head">
        <p class="quiet">
          What calls to each number run. Without a route they are rejected. An operator gives and
          takes numbers.
        </p>
      </div>
      <data-table
        label="Numbers"
        path=${NUMBERS}
        .columns=${COLUMNS}
        .actions=${may("routes:write") ? this.renderActions.bind(this) : null}
        empty="This account has no number yet. An operator adds one: switchroom account number add."
      ></data-table>
      ${this.renderDialogs()}
    `;
  }

  /** @param {NumberRow} row */
  renderActions(row) {
    const { number, route } = row;
    const what = route ? "Change route" : "Set route";
    return html`
      <button aria-label="${what} of ${number}" @click=${() => this.edit(row)}>${what}</button>
      ${route
        ? html`<button class="danger" aria-label="Remove route of ${number}" @click=${() => this.erase(row)}>
            Remove route
          </button>`
        : nothing}
    `;
  }

  /** @param {NumberRow} row */
  async edit({ number, route, version }) {
    const path = pathOf(number);
    let tag = version === null ? "" : `"${version}"`;
    const form = {
      heading: `Route of ${number}`,
      submit: "Save",
      fields: await fieldsOf(route),
      /** @param {any} values */
      save: (values) => put(path, routeOf(values), tag ? { "If-Match": tag } : { "If-None-Match": "*" }),
      reload: async () => {
        const current = await get(`${NUMBERS}/${encodeURIComponent(number)}`);
        tag = current.version === null ? "" : `"${current.version}"`;
        return toForm(current.route ?? NEW_ROUTE);
      },
    };
    await this.ask(form, toForm(route ?? NEW_ROUTE), `The route of ${number} is saved: the next call uses it.`);
  }

  /** @param {NumberRow} row */
  async erase({ number, version }) {
    await this.confirm({
      heading: `Remove the route of ${number}?`,
      text: "Calls to the number are rejected from now on.",
      action: "Remove",
      run: () => del(pathOf(number), { "If-Match": `"${version}"` }),
      done: `Calls to ${number} are rejected.`,
    });
  }
}

/** @param {import("./route.js").RouteForm} form */
function routeOf(form) {
  const { route, errors } = fromForm(form);
  if (errors.length) throw new RestError(400, "invalid", "Some fields cannot be read.", errors);
  return route;
}

/**
 * Return the fields of the form, with the account's flows and agents.
 * @param {import("./route.js").Route | null} route
 * @returns {Promise<Field[]>}
 */
async function fieldsOf(route) {
  const { kind, name } = describeRoute(route ?? NEW_ROUTE);
  const [flows, agents, schema] = await Promise.all([
    optionsOf(FLOWS, (row) => ({ value: row.flowId, label: row.flowId }), kind === "flow" ? name : ""),
    optionsOf(
      AGENTS,
      (row) => ({ value: row.agentId, label: row.name ? `${row.agentId} (${row.name})` : row.agentId }),
      kind === "agent" ? name : "",
    ),
    get(SCHEMA).catch(() => null),
  ]);
  return [
    {
      name: "kind",
      label: "Calls run",
      type: "select",
      options: Object.entries(KINDS).map(([value, label]) => ({ value, label })),
    },
    {
      name: "address",
      label: "Address of the webhook",
      path: "action",
      required: true,
      shown: isKind("webhook"),
      placeholder: "https://example.com/call",
      hint: "It gets each call, and returns what the call does.",
    },
    choice("flowId", "Flow", flows, isKind("flow")),
    choice("agentId", "Agent", agents, isKind("agent")),
    { name: "tree", label: "Tree", type: "json", path: "action", schema, shown: isKind("tree") },
    {
      name: "fallback",
      label: "Fallback",
      type: "json",
      schema,
      shown: (values) => values.kind !== "tree",
      hint: "A tree that runs if the webhook or the flow fails; empty: the call ends.",
    },
    { name: "recordCall", label: "Record calls", type: "checkbox" },
    { name: "answer", label: "Answer at once; otherwise calls ring until audio is needed", type: "checkbox" },
    {
      name: "allowListeners",
      label: "Let a developer's machine answer webhooks (switchroom listen)",
      type: "checkbox",
      hint: "For numbers in development: whoever listens reads and steers the calls.",
    },
    { name: "labels", label: "Labels", type: "list", rows: 2, hint: "One name=value in each line; the records of calls have them." },
    { name: "customData", label: "Custom data", type: "json", hint: "An object that webhooks and flows get." },
    { name: "statusCallbackUrl", label: "Address of status callbacks", hint: "Instead of the account's." },
  ];
}

/**
 * @param {string} name
 * @param {string} label
 * @param {Options} options
 * @param {(values: Values) => boolean} shown
 * @returns {Field}
 */
function choice(name, label, options, shown) {
  const path = name === "agentId" ? "action" : name;
  if (options.length === 0) return { name, label, path, required: true, shown };
  return { name, label, path, type: "select", required: true, options: [{ value: "", label: "Choose one" }, ...options], shown };
}

/**
 * @param {string} path
 * @param {(row: any) => {value: string, label: string}} option
 * @param {string} current
 * @returns {Promise<Options>} empty if they cannot be read
 */
async function optionsOf(path, option, current) {
  try {
    /** @type {Options} */
    const found = (await get(path, { limit: 1_000 })).data.map(option);
    const isKnown = current === "" || found.some((each) => each.value === current);
    return isKnown ? found : [{ value: current, label: current }, ...found];
  } catch {
    return [];
  }
}

/** @type {import("../components/data-table.js").Column[]} */
const COLUMNS = [
  { title: "Number", cell: (row) => html`<code>${row.number}</code>` },
  { title: "Calls run", cell: (row) => routeText(row.route) },
  { title: "Fallback", cell: (row) => row.route?.fallback?.type ?? "" },
  { title: "Recorded", cell: (row) => (row.route && toForm(row.route).recordCall ? "yes" : "") },
  {
    title: "Labels",
    cell: (row) =>
      html`<span class="tags">${Object.entries(row.route?.labels ?? {}).map(
        ([name, value]) => html`<span class="tag">${name}: ${value}</span>`,
      )}</span>`,
  },
  { title: "Changed", cell: (row) => (row.changedTime ? dateTime(row.changedTime) : "") },
];

/** @param {import("./route.js").Route | null} route */
function routeText(route) {
  if (route === null) return html`<span class="tag warn">no route: rejected</span>`;
  const { kind, name } = describeRoute(route);
  if (kind === "flow") {
    return html`<span class="tag accent">flow</span> <a href="/console/flows?id=${encodeURIComponent(name)}"><code>${name}</code></a>`;
  }
  return html`<span class="tag accent">${kind}</span> <code class="break">${name}</code>`;
}

customElements.define("number-list", NumberList);
