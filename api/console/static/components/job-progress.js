// @ts-check
// <job-progress>: how far a background job is: an import, an export or a download.
//
//   <job-progress label="Export" path="/srmain/cdr/exports/…" @ended=${…}></job-progress>
//
// It reads the path each second until the job has ended, and then emits `ended` with what it read.

import { html, nothing } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import { count } from "../lib/format.js";
import { get } from "../lib/rest.js";
import "./problem.js";

const POLL_MS = 1_000;
/** @type {Record<string, string>} */
const STATES = { waiting: "waits", running: "runs", done: "is done", failed: "has failed" };

/** @typedef {{state: string, rows: number, total: number | null, error?: string | null}} Progress */

export class JobProgress extends ConsoleElement {
  static properties = {
    label: {},
    path: {},
    select: { attribute: false },
    job: { state: true },
    error: { state: true },
  };

  constructor() {
    super();
    this.label = "";
    this.path = "";
    /** Where the progress is in what the path returns. @type {(found: any) => Progress | null} */
    this.select = (found) => found;
    /** @type {Progress | null} */
    this.job = null;
    /** @type {unknown} */
    this.error = null;
    this.timer = 0;
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    window.clearTimeout(this.timer);
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    if (!changed.has("path")) return;
    window.clearTimeout(this.timer);
    this.job = null;
    if (this.path) void this.poll();
  }

  async poll() {
    const { path } = this;
    let found;
    try {
      found = await get(path);
      this.error = null;
    } catch (error) {
      this.error = error;
    }
    if (path !== this.path || !this.isConnected) return;
    if (found) this.job = this.select(found);
    if (this.job?.state === "done" || this.job?.state === "failed") {
      this.dispatchEvent(new CustomEvent("ended", { detail: found }));
    } else {
      this.timer = window.setTimeout(() => void this.poll(), POLL_MS);
    }
  }

  render() {
    const { job } = this;
    if (!this.path) return nothing;
    if (job === null) return html`<console-problem .error=${this.error}></console-problem>`;
    const isRunning = job.state === "running" || job.state === "waiting";
    const part = job.total ? ` of ${count(job.total)}` : "";
    return html`
      <div role="status" class=${job.state === "failed" ? "problem" : "notice"}>
        <p>${this.label} ${STATES[job.state] ?? job.state}: ${count(job.rows)}${part} rows. ${job.error ?? ""}</p>
        ${isRunning
          ? html`<progress aria-label=${this.label} max=${job.total || 1} value=${job.total ? job.rows : nothing}></progress>`
          : nothing}
      </div>
      <console-problem .error=${this.error}></console-problem>
    `;
  }
}

customElements.define("job-progress", JobProgress);
