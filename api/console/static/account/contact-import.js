// @ts-check
// <contact-import>: the file of a contact list: its columns with a preview, which field each one
// is, and the import with its progress. It emits `imported`.

import { html, nothing } from "../vendored/lit.js";
import "../components/job-progress.js";
import "../components/problem.js";
import { ConsoleElement } from "../lib/console-element.js";
import { download } from "../lib/download.js";
import { count, dateTime, size } from "../lib/format.js";
import { stringify } from "../lib/json.js";
import { may } from "../lib/page.js";
import { get, post, sendParts } from "../lib/rest.js";
import { FIELDS, mappingError, NEW, proposeMappings, toRequest } from "./contact-mapping.js";

const CONTACTS = "/srmain/contacts_list";

export class ContactImport extends ConsoleElement {
  static properties = {
    list: { attribute: false },
    preview: { state: true },
    chosen: { state: true },
    duplicates: { state: true },
    following: { state: true },
    error: { state: true },
    busy: { state: true },
  };

  constructor() {
    super();
    /** The contact list. @type {any} */
    this.list = null;
    /** @type {any} */
    this.preview = null;
    /** A field for each column. @type {Record<string, string>} */
    this.chosen = {};
    this.duplicates = "skip";
    this.following = "";
    /** @type {unknown} */
    this.error = null;
    this.busy = false;
    this.previewed = "";
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    if (!changed.has("list") || !this.list) return;
    if (this.list.status === "PROCESSING") this.following = this.pathOf("contactlists");
    const file = this.list.file?.uploadedTime ?? "";
    if (file === this.previewed) return;
    this.previewed = file;
    this.preview = null;
    if (file) void this.readPreview();
  }

  /** @param {string} action */
  pathOf(action) {
    return `${CONTACTS}/${action}/${encodeURIComponent(this.list.contactListId)}`;
  }

  async readPreview() {
    await this.attempt(async () => {
      this.preview = await get(this.pathOf("preview"));
      const { headers, mappings } = this.preview;
      this.chosen = mappings ?? proposeMappings(headers, this.list.assignedFields);
    });
  }

  render() {
    const { list } = this;
    if (!list?.file) return nothing;
    return html`
      <section class="card stack" aria-labelledby="import-heading">
        <h2 id="import-heading">File</h2>
        <p class="break">
          ${list.file.name}, ${size(list.file.bytes)}, uploaded ${dateTime(list.file.uploadedTime)}
          ${list.file.encoding ? html`<span class="tag">${list.file.encoding}</span>` : nothing}
        </p>
        ${this.preview ? this.renderMapping() : nothing}
        <console-problem .error=${this.error}></console-problem>
        <job-progress
          label="The import"
          path=${this.following}
          .select=${(/** @type {any} */ found) => found.processing}
          @ended=${this.onEnded}
        ></job-progress>
        ${list.processing && !this.following ? this.renderResult(list.processing) : nothing}
      </section>
    `;
  }

  renderMapping() {
    const { headers, rows } = this.preview;
    const canWrite = may("contacts:write") && this.list.status !== "PROCESSING";
    return html`
      <p class="hint">Choose for each column the field of a contact that it is. The first rows are shown.</p>
      <div class="scroll" tabindex="0" role="region" aria-label="Preview of the file">
        <table>
          <caption class="visually-hidden">Preview of the file</caption>
          <thead>
            <tr>
              ${headers.map(
                (/** @type {string} */ header) => html`<th scope="col">
                  <div class="stack">
                    <span>${header}</span>
                    ${canWrite ? this.renderChoice(header) : html`<span class="tag">${this.chosen[header] ?? "not imported"}</span>`}
                  </div>
                </th>`,
              )}
            </tr>
          </thead>
          <tbody>
            ${rows.map(
              (/** @type {string[]} */ row) => html`<tr>
                ${row.map((cell) => html`<td>${cell}</td>`)}
              </tr>`,
            )}
          </tbody>
        </table>
      </div>
      ${canWrite ? this.renderStart() : nothing}
    `;
  }

  /** @param {string} header */
  renderChoice(header) {
    const chosen = this.chosen[header] ?? "";
    /**
     * @param {string} value
     * @param {string} text
     */
    const option = (value, text) => html`<option value=${value} ?selected=${value === chosen}>${text}</option>`;
    const own = this.list.assignedFields;
    return html`
      <select
        aria-label="Field of the column ${header}"
        @change=${(/** @type {Event} */ event) => {
          const { value } = /** @type {HTMLSelectElement} */ (event.target);
          this.chosen = { ...this.chosen, [header]: value };
        }}
      >
        ${option("", "not imported")}
        ${Object.entries(FIELDS).map(([value, text]) => option(value, text))}
        ${own.map((/** @type {string} */ each) => option(each, each))}
        ${own.includes(header) ? nothing : option(NEW + header, `new field “${header}”`)}
      </select>
    `;
  }

  renderStart() {
    return html`
      <div class="row">
        <label>
          Numbers that the list has already
          <select @change=${(/** @type {Event} */ event) => (this.duplicates = /** @type {HTMLSelectElement} */ (event.target).value)}>
            <option value="skip">skip the row</option>
            <option value="update">update the contact</option>
          </select>
        </label>
        <button class="primary" ?disabled=${this.busy} @click=${this.start}>Import</button>
      </div>
    `;
  }

  /** @param {any} processing */
  renderResult(processing) {
    const { added, updated, skipped, rejected, rejectedRowsKept } = processing;
    return html`
      <div class=${processing.state === "failed" ? "problem" : "notice"}>
        <p>
          Last import: ${count(added)} added, ${count(updated)} updated, ${count(skipped)} skipped,
          ${count(rejected)} rejected. ${processing.error ?? ""}
        </p>
        ${processing.rejectedRowsPath
          ? html`<button @click=${() => this.attempt(() => download(processing.rejectedRowsPath, "rejected.csv"))}>
              Download the ${rejectedRowsKept < rejected ? `first ${count(rejectedRowsKept)} ` : ""}rejected rows
            </button>`
          : nothing}
      </div>
    `;
  }

  async start() {
    const { mappings, newFields } = toRequest(this.chosen);
    await this.attempt(async () => {
      const reason = mappingError(mappings);
      if (reason) throw new Error(reason);
      if (newFields.length) {
        const data = stringify({ assignedFields: [...this.list.assignedFields, ...newFields] });
        await sendParts("PATCH", this.pathOf("updatecontactlist"), { data });
      }
      await post(this.pathOf("map-fields"), { mappings });
      this.chosen = mappings; // a new field is now one of the list's own
      await post(`${this.pathOf("process-file")}?action=${this.duplicates}`);
      this.following = this.pathOf("contactlists");
    });
  }

  onEnded() {
    this.following = "";
    this.dispatchEvent(new CustomEvent("imported"));
  }

  /** @param {() => Promise<unknown>} action */
  async attempt(action) {
    this.busy = true;
    this.error = null;
    try {
      await action();
    } catch (error) {
      this.error = error;
    } finally {
      this.busy = false;
    }
  }
}

customElements.define("contact-import", ContactImport);
