// @ts-check
// <doctor-results>: the results of the checks, which an engine runs at most once a minute.

import { html, nothing } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import "../components/data-table.js";
import "../components/problem.js";
import { dateTime } from "../lib/format.js";
import { get } from "../lib/rest.js";
import { CHECKS } from "./columns.js";

const DOCTOR = "/srmain/operations/doctor";
const POLL_MS = 60_000;
const SOON_MS = 5_000; // while checks run

export class DoctorResults extends ConsoleElement {
  static properties = { report: { state: true }, error: { state: true }, busy: { state: true } };

  constructor() {
    super();
    /** @type {any} */
    this.report = null;
    /** @type {unknown} */
    this.error = null;
    this.busy = false;
    this.timer = 0;
  }

  connectedCallback() {
    super.connectedCallback();
    void this.read();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    window.clearTimeout(this.timer);
  }

  async read() {
    window.clearTimeout(this.timer);
    if (!document.hidden) await this.load();
    if (!this.isConnected) return;
    const isSoon = document.hidden || this.report?.isRunning;
    this.timer = window.setTimeout(() => void this.read(), isSoon ? SOON_MS : POLL_MS);
  }

  async load() {
    this.busy = true;
    try {
      this.report = await get(DOCTOR);
      this.error = null;
    } catch (error) {
      this.error = error;
    } finally {
      this.busy = false;
    }
  }

  render() {
    const { report } = this;
    return html`
      <div class="row middle spread page-head">
        <p class="quiet" role="status">${this.stateText()}</p>
        <button ?disabled=${this.busy} @click=${this.read}>Check again</button>
      </div>
      <console-problem .error=${this.error}></console-problem>
      ${report?.checkedTime
        ? html`<data-table label="Results of the checks" .rows=${report.findings} .columns=${CHECKS} empty="Nothing was checked."></data-table>`
        : nothing}
    `;
  }

  stateText() {
    const { report } = this;
    if (!report) return this.error ? "" : "The checks of switchroom doctor run…";
    const running = report.isRunning ? "The checks run…" : "";
    if (!report.checkedTime) return running;
    const seconds = (report.durationMs / 1_000).toFixed(1);
    const checked = `Checked at ${dateTime(report.checkedTime)}, in ${seconds} s; at most once a minute.`;
    return `${checked} ${running}`;
  }
}

customElements.define("doctor-results", DoctorResults);
