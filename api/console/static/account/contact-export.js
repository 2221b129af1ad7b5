// @ts-check
// <contact-export>: a list's contacts as a file, written in the background, or sent by e-mail.

import { html, nothing } from "../vendored/lit.js";
import "../components/job-progress.js";
import { ListPage } from "../components/list-page.js";
import "../components/problem.js";
import { download } from "../lib/download.js";
import { dateTime } from "../lib/format.js";
import { get, post } from "../lib/rest.js";

const CONTACTS = "/srmain/contacts_list";
/** @type {import("../forms/values.js").Field[]} */
const FIELDS = [
  {
    name: "format",
    label: "As",
    type: "select",
    options: [
      { value: "csv", label: "CSV file" },
      { value: "xlsx", label: "workbook (xlsx)" },
      { value: "email", label: "CSV file, sent to the account's e-mail address" },
    ],
  },
];

export class ContactExport extends ListPage {
  static properties = { listId: {}, job: { state: true }, ended: { state: true }, error: { state: true } };

  constructor() {
    super();
    this.listId = "";
    /** @type {any} */
    this.job = null;
    /** @type {any} */
    this.ended = null;
    /** @type {unknown} */
    this.error = null;
  }

  render() {
    const path = this.job ? `${CONTACTS}/download-requests/${this.job.id}` : "";
    return html`
      <button @click=${this.start}>Export</button>
      <job-progress
        label="The export"
        path=${path}
        @ended=${(/** @type {CustomEvent} */ event) => (this.ended = event.detail)}
      ></job-progress>
      ${this.ended?.downloadPath
        ? html`<p>
            <button class="primary" @click=${this.download}>Download ${this.ended.format}</button>
            <span class="hint">The file is there until ${dateTime(this.ended.expiresTime)}.</span>
          </p>`
        : nothing}
      <console-problem .error=${this.error}></console-problem>
      ${this.renderDialogs()}
    `;
  }

  async start() {
    const form = {
      heading: "Export the contacts",
      submit: "Start",
      fields: FIELDS,
      save: async (/** @type {any} */ { format }) =>
        format === "email"
          ? await get(`${CONTACTS}/${encodeURIComponent(this.listId)}/export`)
          : await post(`${CONTACTS}/download-requests`, { contactListId: this.listId, format }),
    };
    const job = await this.ask(form, { format: "csv" }, "");
    if (job === null) return;
    this.ended = null;
    this.job = job;
  }

  async download() {
    try {
      await download(this.ended.downloadPath, `contacts.${this.ended.format}`);
      this.error = null;
    } catch (error) {
      this.error = error;
    }
  }
}

customElements.define("contact-export", ContactExport);
