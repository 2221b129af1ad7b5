// @ts-check
// <audit-trail>: who did what in the account.

import { html, nothing } from "../vendored/lit.js";
import { ListPage } from "../components/list-page.js";
import { dateTime } from "../lib/format.js";

/** @type {import("../components/filter-form.js").FilterField[]} */
const FILTERS = [
  { name: "startTime", label: "From", type: "datetime" },
  { name: "endTime", label: "Until", type: "datetime" },
  { name: "actor", label: "Actor", placeholder: "key:…" },
  { name: "agentId", label: "Agent" },
  { name: "action", label: "Action", placeholder: "DELETE /srmain/keys/{id}" },
];

export class AuditTrail extends ListPage {
  render() {
    return html`
      <p class="quiet">
        Requests that change something, that read recordings or exports, and that were not allowed.
        Rows are only added: none is changed or deleted.
      </p>
      ${this.renderFilters(FILTERS)}
      ${this.filters === null
        ? nothing
        : html`<data-table
            label="Audit trail"
            path="/srmain/audit"
            .query=${this.filters}
            .columns=${COLUMNS}
            empty="No row matches."
            @problem=${this.showProblem}
          ></data-table>`}
    `;
  }
}

/** @param {string} outcome a status, or `done` and `failed` of a command */
function kindOf(outcome) {
  if (outcome === "done" || outcome.startsWith("2")) return "good";
  return outcome === "403" || outcome === "429" || outcome === "failed" ? "bad" : "warn";
}

/** @type {import("../components/data-table.js").Column[]} */
const COLUMNS = [
  { title: "Time", cell: (row) => dateTime(row.time) },
  { title: "Actor", cell: (row) => html`<span class="break">${row.actor}</span>` },
  { title: "Agent", cell: (row) => row.agentId ?? "" },
  { title: "Action", cell: (row) => html`<code>${row.action}</code>` },
  { title: "Object", cell: (row) => html`<span class="break">${row.object}</span>` },
  { title: "Outcome", cell: (row) => html`<span class="tag ${kindOf(row.outcome)}">${row.outcome}</span>` },
  { title: "Address", cell: (row) => row.address },
];

customElements.define("audit-trail", AuditTrail);
