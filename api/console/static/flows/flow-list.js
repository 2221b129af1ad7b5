// @ts-check
// <flow-list>: the flows of the account.

import { html, nothing } from "../vendored/lit.js";
import { ListPage } from "../components/list-page.js";
import { dateTime } from "../lib/format.js";
import { may } from "../lib/page.js";
import { RestError, del } from "../lib/rest.js";
import { FLOWS, pathOf } from "./flow-rest.js";
import { SAMPLES } from "./samples.js";

const ID = /^[A-Za-z0-9_-]{1,64}$/;
const WRONG_ID = { path: "flowId", message: "expected 1 to 64 letters, digits, _ or -", code: "invalid" };

/** @type {import("../forms/values.js").Field[]} */
const FIELDS = [
  {
    name: "flowId",
    label: "Id",
    required: true,
    maxLength: 64,
    hint: "Letters, digits, _ and -, such as support. Calls and routes name the flow by it.",
  },
  {
    name: "sample",
    label: "Start from",
    type: "select",
    options: SAMPLES.filter((each) => each.isFlow)
      .concat(SAMPLES.filter((each) => !each.isFlow))
      .map((each) => ({ value: each.name, label: each.title })),
  },
];

export class FlowList extends ListPage {
  render() {
    return html`
      <div class="row middle spread page-head">
        <p class="quiet">Stored documents that define what a call does. Each change is a new version.</p>
        ${may("routes:write") ? html`<button class="primary" @click=${this.create}>New flow</button>` : nothing}
      </div>
      <data-table
        label="Flows"
        path=${FLOWS}
        .columns=${COLUMNS}
        .actions=${may("routes:write") ? this.renderActions.bind(this) : null}
        empty="There is no flow yet. A number's route, a call or another flow runs one by its id."
      ></data-table>
      ${this.renderDialogs()}
    `;
  }

  /** @param {import("./flow-rest.js").FlowSummary} flow */
  renderActions(flow) {
    return html`<button class="danger" aria-label="Delete ${flow.flowId}" @click=${() => this.erase(flow)}>Delete</button>`;
  }

  async create() {
    /** @param {any} values */
    const save = async ({ flowId, sample }) => {
      if (!ID.test(flowId)) throw new RestError(400, "invalid", "", [WRONG_ID]);
      location.assign(`?${new URLSearchParams({ id: flowId, sample })}`);
    };
    await this.ask({ heading: "New flow", submit: "Edit", fields: FIELDS, save }, {}, "");
  }

  /** @param {import("./flow-rest.js").FlowSummary} flow */
  async erase(flow) {
    await this.confirm({
      heading: `Delete flow ${flow.flowId}?`,
      text: "Calls that run it continue. Numbers whose route names it play their fallback instead.",
      action: "Delete",
      run: () => del(pathOf(flow.flowId), { "If-Match": `"${flow.version}"` }),
      done: "The flow is deleted.",
    });
  }
}

/** @type {import("../components/data-table.js").Column[]} */
const COLUMNS = [
  { title: "Id", cell: (row) => html`<a href="?id=${encodeURIComponent(row.flowId)}"><code>${row.flowId}</code></a>` },
  { title: "Published", cell: publishedOf },
  { title: "Latest", number: true, cell: (row) => row.latest },
  { title: "Changed", cell: (row) => dateTime(row.changedTime) },
];

/** @param {import("./flow-rest.js").FlowSummary} row */
function publishedOf({ published, latest }) {
  if (published === null) return html`<span class="tag warn">no version: drafts only</span>`;
  const draft = latest === published ? nothing : html` <span class="tag warn">not the latest</span>`;
  return html`<span class="tag good">version ${published}</span>${draft}`;
}

customElements.define("flow-list", FlowList);
