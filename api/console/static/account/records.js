// @ts-check
// <record-list>: the records of ended calls, with all filters of the REST list, and exports.

import { html, nothing } from "../vendored/lit.js";
import "../components/job-progress.js";
import { ListPage } from "../components/list-page.js";
import { download } from "../lib/download.js";
import { dateTime, duration } from "../lib/format.js";
import { renderOutcome } from "../lib/outcome-tags.js";
import { patch, post } from "../lib/rest.js";
import { withFilters } from "./record-query.js";
import "../components/problem.js";

const RECORDS = "/srmain/cdr";
const MAX_EXPORT_ROWS = 5_000_000;
const LEVELS = ["dispositionLevel1Id", "dispositionLevel2Id", "dispositionLevel3Id"];

/** @param {...string} values */
const choices = (...values) => [
  { value: "", label: "any" },
  ...values.map((value) => ({ value, label: value })),
];

/** @type {import("../components/filter-form.js").FilterField[]} */
const FILTERS = [
  { name: "startTime", label: "From", type: "datetime" },
  { name: "endTime", label: "Until", type: "datetime" },
  { name: "toNumber", label: "To number" },
  { name: "answerStatus", label: "Outcome", type: "select", options: choices("answered", "missed") },
  { name: "agentName", label: "Agents", placeholder: "Ada, Grace" },
  { name: "dialedNumber", label: "Dialled number", isMore: true },
  { name: "callerId", label: "Caller id", isMore: true },
  { name: "reqId", label: "Call", isMore: true },
  { name: "callPath", label: "Call path", isMore: true },
  { name: "recordingPurpose", label: "Recording", type: "select", options: choices("call", "voicemail"), isMore: true },
  { name: "clientId", label: "Client", isMore: true },
  { name: "obdType", label: "Outbound type", isMore: true },
  ...LEVELS.map((name, place) => ({ name, label: `Disposition ${place + 1}`, isMore: true })),
];

/** @type {import("../forms/values.js").Field[]} */
const EXPORT_FIELDS = [
  {
    name: "format",
    label: "Format",
    type: "select",
    options: [
      { value: "csv", label: "CSV, for spreadsheets" },
      { value: "jsonl", label: "JSON, one record a line" },
    ],
  },
  { name: "includeTimeline", label: "With the timeline of each call", type: "checkbox" },
];
/** @type {import("../forms/values.js").Field[]} */
const DISPOSITION_FIELDS = LEVELS.map((name, place) => ({
  name,
  label: `Level ${place + 1}`,
  maxLength: 128,
}));

export class RecordList extends ListPage {
  static properties = {
    exportId: { state: true },
    exported: { state: true },
    error: { state: true },
  };

  constructor() {
    super();
    this.filteredMs = 0;
    this.exportId = "";
    /** @type {any} */
    this.exported = null;
    /** @type {unknown} */
    this.error = null;
    this.columns = [
      ...COLUMNS,
      { title: "Disposition", cell: (/** @type {any} */ row) => this.renderDisposition(row) },
    ];
  }

  /** @param {Record<string, any>} filters */
  filter(filters) {
    super.filter(filters);
    this.filteredMs = Date.now();
  }

  render() {
    return html`
      ${this.renderFilters(FILTERS)}
      <div class="row middle page-head">
        <button @click=${this.export}>Export what is filtered</button>
      </div>
      ${this.renderExport()}
      ${this.filters === null
        ? nothing
        : html`<data-table
            label="Call records"
            path=${withFilters(RECORDS, this.filters, this.filteredMs)}
            .columns=${this.columns}
            empty="No record matches. A call has its record a moment after it has ended."
            @problem=${this.showProblem}
          ></data-table>`}
      ${this.renderDialogs()}
    `;
  }

  renderExport() {
    const path = this.exportId ? `${RECORDS}/exports/${this.exportId}` : "";
    return html`
      <job-progress
        label="The export"
        path=${path}
        @ended=${(/** @type {CustomEvent} */ event) => (this.exported = event.detail)}
      ></job-progress>
      ${this.exported?.downloadPath
        ? html`<p>
            <button class="primary" @click=${this.download}>Download ${this.exported.format}</button>
            <span class="hint">The file is there until ${dateTime(this.exported.expiresTime)}.</span>
          </p>`
        : nothing}
      <console-problem .error=${this.error}></console-problem>
    `;
  }

  /** @param {any} record */
  renderDisposition(record) {
    const text = LEVELS.map((name) => record[name]).filter(Boolean).join(" / ");
    return html`${text}
      <button class="small" aria-label="Set the disposition of ${record.reqId}" @click=${() => this.editDisposition(record)}>
        Set
      </button>`;
  }

  async export() {
    const path = withFilters(
      `${RECORDS}/export`,
      { ...this.filters, limit: MAX_EXPORT_ROWS },
      this.filteredMs,
    );
    const form = {
      heading: "Export call records",
      submit: "Start",
      note: html`<p>A file with all records that match the filters, not only those of this page.</p>`,
      fields: EXPORT_FIELDS,
      save: async (/** @type {any} */ values) => await post(path, values),
    };
    const started = await this.ask(form, { format: "csv" }, "");
    if (started === null) return;
    this.exported = null;
    this.exportId = started.exportId;
  }

  async download() {
    try {
      await download(this.exported.downloadPath, `records.${this.exported.format}`);
      this.error = null;
    } catch (error) {
      this.error = error;
    }
  }

  /** @param {any} record */
  async editDisposition(record) {
    const path = `${RECORDS}/${encodeURIComponent(record.reqId)}/disposition`;
    const form = {
      heading: "Disposition",
      submit: "Save",
      note: html`<p class="break">Call <code>${record.reqId}</code></p>`,
      fields: DISPOSITION_FIELDS,
      save: async (/** @type {any} */ values) => await patch(path, values),
    };
    await this.ask(form, record, "The disposition is saved.");
  }
}

/** @type {import("../components/data-table.js").Column[]} */
const COLUMNS = [
  { title: "Start", cell: (row) => html`<a href="/console/calls/${encodeURIComponent(row.reqId)}">${dateTime(row.startTime)}</a> <span class="quiet">${row.callPath || row.direction}</span>` },
  { title: "From", cell: (row) => (row.privacy ? html`${row.from} <span class="tag">withheld</span>` : row.from) },
  { title: "To", cell: (row) => row.toNumber },
  { title: "Outcome", cell: renderOutcome },
  { title: "Ringing", number: true, cell: (row) => duration(row.ringMs) },
  { title: "Talk", number: true, cell: (row) => duration(row.talkMs) },
  { title: "Length", number: true, cell: (row) => duration(row.durationMs) },
  { title: "Agents", cell: (row) => row.agents.map((/** @type {any} */ each) => each.agentName || each.agentId).join(", ") },
  { title: "Recording", cell: recordings },
];

/** @param {any} row */
function recordings(row) {
  if (!row.recordings.length) return "";
  return html`<span class="tags">${row.recordings.map(
    (/** @type {any} */ each) => html`<span class="tag accent">${each.purpose || "call"}</span>`,
  )}</span>`;
}

customElements.define("record-list", RecordList);
