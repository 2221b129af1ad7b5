// @ts-check
// <data-table>: rows of a REST list, with its pages; or rows that are given.
//
//   <data-table label="Agents" path="/srmain/voice/agents" .query=${{ withPresence: true }}
//     .columns=${[{ title: "Name", cell: (row) => row.name }]} empty="There is no agent."
//     .actions=${(row) => html`<button>Edit</button>`}></data-table>
//
// A list with a cursor, an offset or neither is recognized by its response. `reload()` reads the
// page again. Events: `page` (detail: the response), `problem` (detail: the RestError).

import { html, nothing } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import { count } from "../lib/format.js";
import { stringify } from "../lib/json.js";
import { get } from "../lib/rest.js";
import { firstPage, pageAfter, rangeText } from "../lib/paging.js";
import "./problem.js";

/**
 * @typedef {Object} Column
 * @property {string} title
 * @property {(row: any) => unknown} cell what a row shows: text, or a template
 * @property {boolean} [number] aligned to the right
 */

export class DataTable extends ConsoleElement {
  static properties = {
    label: {},
    path: {},
    query: { attribute: false },
    limit: { type: Number },
    rows: { attribute: false },
    columns: { attribute: false },
    actions: { attribute: false },
    rowClass: { attribute: false },
    empty: {},
    page: { state: true },
    error: { state: true },
    busy: { state: true },
  };

  constructor() {
    super();
    this.label = "";
    this.path = "";
    /** @type {Record<string, import("../lib/rest.js").QueryValue>} */
    this.query = {};
    /** Rows of a page; 0: the list has no pages. */
    this.limit = 50;
    /** @type {any[] | null} */
    this.rows = null;
    /** @type {Column[]} */
    this.columns = [];
    /** @type {((row: any) => unknown) | null} */
    this.actions = null;
    /** @type {(row: any) => string} */
    this.rowClass = () => "";
    this.empty = "There is nothing yet.";
    /** @type {any} */
    this.page = null;
    /** @type {unknown} */
    this.error = null;
    this.busy = false;
    /** @type {import("../lib/paging.js").Place[]} the places of the pages up to this one */
    this.places = [firstPage()];
    this.source = "";
    /** What the shown page is of: rows of other filters are not shown beside a problem. */
    this.shownSource = "";
    this.request = new AbortController();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.request.abort();
  }

  willUpdate() {
    const source = this.rows ? "" : stringify([this.path, this.query, this.limit]);
    if (source === this.source) return;
    this.source = source;
    this.places = [firstPage()];
    if (source) void this.reload();
  }

  /**
   * Read the page again.
   * @returns {Promise<void>}
   */
  async reload() {
    this.request.abort();
    const request = (this.request = new AbortController());
    const limit = this.limit ? { limit: this.limit } : {};
    this.busy = true;
    try {
      const query = { ...this.query, ...limit, ...this.places.at(-1) };
      const page = await get(this.path, query, request.signal);
      if (!page.data.length && this.places.length > 1) {
        this.places = this.places.slice(0, -1); // its rows were deleted
        return await this.reload();
      }
      this.page = page;
      this.shownSource = this.source;
      this.error = null;
      this.dispatchEvent(new CustomEvent("page", { detail: page }));
    } catch (error) {
      if (request.signal.aborted) return;
      this.error = error;
      if (this.shownSource !== this.source) this.page = null;
      this.dispatchEvent(new CustomEvent("problem", { detail: error }));
    } finally {
      if (this.request === request) this.busy = false;
    }
  }

  render() {
    const rows = this.rows ?? this.page?.data ?? [];
    const isLoading = this.rows === null && this.page === null && this.error === null;
    return html`
      <console-problem .error=${this.error}></console-problem>
      <div
        class="scroll"
        tabindex="0"
        role="region"
        aria-label=${this.label}
        aria-busy=${this.busy ? "true" : "false"}
      >
        <table class="stacked" role="table">
          <caption class="visually-hidden">${this.label}</caption>
          <thead role="rowgroup">
            <tr role="row">
              ${this.columns.map(
                (each) => html`<th role="columnheader" scope="col" class=${each.number ? "number" : ""}>${each.title}</th>`,
              )}
              ${this.actions ? html`<th role="columnheader" scope="col"><span class="visually-hidden">Actions</span></th>` : nothing}
            </tr>
          </thead>
          <tbody role="rowgroup">
            ${rows.map((/** @type {any} */ row) => this.renderRow(row))}
          </tbody>
        </table>
        ${isLoading ? html`<p class="empty" role="status">Loading…</p>` : nothing}
        ${rows.length || isLoading || this.error ? nothing : html`<p class="empty">${this.empty}</p>`}
      </div>
      ${this.page && !this.rows ? this.renderPaging() : nothing}
    `;
  }

  /** @param {any} row */
  renderRow(row) {
    return html`
      <tr role="row" class=${this.rowClass(row)}>
        ${this.columns.map(
          (each) => renderCell(each, each.cell(row) ?? ""),
        )}
        ${this.actions ? html`<td role="cell" class="actions">${this.actions(row)}</td>` : nothing}
      </tr>
    `;
  }

  renderPaging() {
    const next = pageAfter(this.page);
    const isFirst = this.places.length === 1;
    if (isFirst && next === null && this.page.total === undefined) return nothing;
    return html`
      <nav class="row middle spread paging" aria-label="Pages of ${this.label}">
        <span class="quiet" role="status">${rangeText(this.page, count)}</span>
        ${isFirst && next === null
          ? nothing
          : html`<span class="row">
              <button ?disabled=${isFirst || this.busy} @click=${this.goBack}>Previous</button>
              <button ?disabled=${next === null || this.busy} @click=${this.goOn}>Next</button>
            </span>`}
      </nav>
    `;
  }

  goBack() {
    this.places = this.places.slice(0, -1);
    void this.reload();
  }

  goOn() {
    const next = pageAfter(this.page);
    if (next === null) return;
    this.places = [...this.places, next];
    void this.reload();
  }
}

/**
 * Render a cell; on a small screen, where a row is a card, its title is beside it.
 * @param {Column} column
 * @param {unknown} content
 */
function renderCell({ title, number }, content) {
  const kind = `${number ? "number" : ""} ${content === "" || content === nothing ? "vacant" : ""}`;
  return html`<td role="cell" class=${kind} data-title=${title}><div>${content}</div></td>`;
}

customElements.define("data-table", DataTable);
