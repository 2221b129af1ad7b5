// @ts-check
// <call-page>: one call, live or ended: what went wrong, its controls, its ladder and its recording.

import { html, nothing } from "../vendored/lit.js";
import { GrowingLadder, explain, findFaults } from "../ladder/model.js";
import { download, toSvgText } from "../ladder/export.js";
import { ConsoleElement } from "../lib/console-element.js";
import { renderFacts } from "../calls/call-facts.js";
import { renderStreams } from "../calls/call-streams.js";
import { EventStream } from "../lib/event-stream.js";
import { stringify } from "../lib/json.js";
import { may } from "../lib/page.js";
import { RestError, get } from "../lib/rest.js";
import "./call-controls.js";
import "./call-ladder.js";
import "./call-recording.js";
import "./call-replay.js";
import "./problem.js";
import "./step-details.js";

const EVENTS = "/srmain/voice/events";
const POLL_MS = 1_000; // for what no event says, such as a key that is pressed
const SOON_MS = 100; // after an event
const COST = 5; // pauses are so many times as long as reading takes
const RECORD_MS = 2_000; // until a record is written
const RECORD_TRIES = 10;
const ATTEMPT_READS = 5; // engines write attempts within a second

export class CallPage extends ConsoleElement {
  static properties = {
    timeline: { state: true },
    record: { state: true },
    details: { state: true },
    error: { state: true },
    selected: { state: true },
    wave: { state: true },
    cursorMs: { state: true },
  };

  constructor() {
    super();
    this.callId = decodeURIComponent(location.pathname.split("/").pop() ?? "");
    /** @type {GrowingLadder | null} */
    this.growing = null;
    /** @type {any} */
    this.timeline = null;
    /** @type {import("../ladder/model.js").Ladder | null} */
    this.ladder = null;
    /** @type {import("../ladder/model.js").Finding[]} */
    this.findings = [];
    /** @type {any} */
    this.record = null;
    /** @type {Map<string, any>} attempts in full, by request */
    this.details = new Map();
    /** @type {unknown} */
    this.error = null;
    this.selected = -1;
    /** @type {import("../ladder/wave.js").Wave | null} */
    this.wave = null;
    /** @type {number | null} */
    this.cursorMs = null;
    this.timer = 0;
    this.dueMs = Infinity;
    this.tookMs = 0;
    this.isReading = false;
    this.recordTries = 0;
    this.attemptReads = 0;
    /** @type {EventStream | null} */
    this.events = null;
  }

  connectedCallback() {
    super.connectedCallback();
    if (may("calls")) {
      this.events = new EventStream(EVENTS, ({ type, data }) => {
        if (type === "lost" || data.includes(this.callId)) this.readAfter(SOON_MS);
      });
      this.events.run().catch((error) => (this.error = error));
    }
    void this.read();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.events?.close();
    window.clearTimeout(this.timer);
  }

  /**
   * Read the call again after a time, but not more often than it is worth.
   * @param {number} ms
   */
  readAfter(ms) {
    const dueMs = performance.now() + Math.max(ms, COST * this.tookMs);
    if (dueMs >= this.dueMs) return;
    window.clearTimeout(this.timer);
    this.dueMs = dueMs;
    this.timer = window.setTimeout(() => void this.read(), dueMs - performance.now());
  }

  async read() {
    this.dueMs = Infinity;
    if (this.isReading) return this.readAfter(SOON_MS);
    this.isReading = true;
    const startMs = performance.now();
    try {
      await this.readNew();
      this.error = null;
    } catch (error) {
      this.error = error;
    }
    this.isReading = false;
    this.tookMs = performance.now() - startMs;
    const { call } = this.timeline ?? {};
    if (call && !call.endedMs) this.readAfter(POLL_MS);
    else if (call) {
      if (this.lacksAttempts() && this.attemptReads++ < ATTEMPT_READS) this.readAfter(POLL_MS);
      await this.readRecord();
    } else if (!isMissing(this.error)) this.readAfter(POLL_MS);
  }

  /** Read what is new since the last time, or the whole timeline. */
  async readNew() {
    const after = this.growing?.next;
    if (!this.growing || !after) return this.take(await get(timelinePath(this.callId)));
    const part = await get(timelinePath(this.callId), { after });
    if (part.omitted) return this.take(await get(timelinePath(this.callId)));
    this.growing.add(part);
    this.show();
  }

  /** @param {any} timeline a whole one */
  take(timeline) {
    this.growing = new GrowingLadder(timeline);
    this.show();
  }

  /** Show the ladder as it is now. */
  show() {
    if (!this.growing) return;
    const { timeline, ladder } = this.growing;
    const [before, chosen] = [this.ladder, this.ladder?.steps[this.selected]];
    this.timeline = timeline;
    if (ladder === before) return;
    this.ladder = ladder;
    this.findings = findFaults(timeline.call, ladder.steps);
    if (chosen && ladder.steps !== before?.steps) {
      // Steps that became known later may come before it.
      this.selected = this.ladder.steps.findIndex((each) => each.atMs === chosen.atMs && each.text === chosen.text);
    }
    for (const each of this.findings) void this.readDetails(each.request);
  }

  async readRecord() {
    if (!may("cdr:own") || this.record?.recordings?.every((/** @type {any} */ each) => each.state !== "ended")) return;
    try {
      this.record = await get(`/srmain/cdr/${encodeURIComponent(this.callId)}`);
    } catch (error) {
      if (!isMissing(error)) this.error = error;
    }
    this.recordTries += 1;
    const isDue = !this.record || this.record.recordings.some((/** @type {any} */ each) => each.state === "ended");
    if (isDue && this.recordTries < RECORD_TRIES) {
      this.timer = window.setTimeout(() => void this.readRecord(), RECORD_MS);
    }
  }

  /** Whether the attempt of a fault is not written yet, or not kept any more. */
  lacksAttempts() {
    const known = new Set(this.timeline.attempts.map((/** @type {any} */ each) => each.requestId));
    return may("webhooks") && this.findings.some((each) => each.request && !known.has(each.request));
  }

  /**
   * Read what a server responded, once.
   * @param {string} request
   */
  async readDetails(request) {
    const attempt = this.timeline.attempts.findLast((/** @type {any} */ each) => each.requestId === request);
    if (!attempt || this.details.has(request) || !may("webhooks")) return;
    this.details.set(request, null);
    try {
      this.details.set(request, await get(`/srmain/voice/webhooks/${attempt.id}`));
    } catch {
      return; // the finding says less
    }
    this.requestUpdate();
  }

  render() {
    const { timeline, ladder } = this;
    if (!timeline || !ladder) {
      return html`<console-problem .error=${this.error}></console-problem>
        ${this.error ? nothing : html`<p class="empty">Loading…</p>`}`;
    }
    const { call } = timeline;
    const step = ladder.steps[this.selected];
    return html`
      <console-problem .error=${this.error}></console-problem>
      ${this.renderFindings()}
      <div class="halves">
        ${renderFacts({ ...call, answerStatus: this.record?.answerStatus }, this.findings.length > 0)}
        <call-controls .call=${call} @changed=${() => this.readAfter(SOON_MS)}></call-controls>
      </div>
      <call-recording .record=${this.record} .startMs=${this.recordingStart()}
        @wave=${(/** @type {CustomEvent} */ event) => (this.wave = event.detail)}
        @move=${(/** @type {CustomEvent} */ event) => this.moveCursor(event.detail)}></call-recording>
      ${renderStreams(this.record)}
      <h2>Ladder</h2>
      <call-ladder .ladder=${ladder} .selected=${this.selected} .wave=${this.wave}
        .cursorMs=${this.cursorMs}
        @choose=${(/** @type {CustomEvent} */ event) => this.choose(event.detail)}></call-ladder>
      <step-details .step=${step ?? null} .startMs=${ladder.startMs} .isLive=${ladder.isLive}
        @retried=${() => this.readAfter(POLL_MS)}></step-details>
      <div class="row section">
        <button @click=${() => download(`${this.callId}.json`, "application/json", stringify(timeline, 2))}>Download JSON</button>
        <button @click=${() => download(`${this.callId}.svg`, "image/svg+xml", toSvgText(ladder))}>Download SVG</button>
        ${may("calls") ? html`<call-replay .callId=${this.callId} .ladder=${ladder}
          @choose=${(/** @type {CustomEvent} */ event) => this.choose(event.detail)}></call-replay>` : nothing}
      </div>
    `;
  }

  renderFindings() {
    if (!this.findings.length) return nothing;
    return html`
      <section class="problem" aria-labelledby="faults">
        <h2 id="faults">What went wrong</h2>
        <ul>
          ${this.findings.map(
            (each) => html`<li>
              ${explain(each, this.details.get(each.request))}
              ${each.code ? html`<a href="/docs/errors/${each.code}" target="_blank" rel="noopener">${each.code}</a>` : nothing}
              <button class="small" @click=${() => this.choose(each.index)}>Show</button>
            </li>`,
          )}
        </ul>
      </section>
    `;
  }

  /** Return when the recording of the call began. */
  recordingStart() {
    return this.ladder?.spans.find((each) => each.kind === "recording")?.fromMs ?? this.timeline.call.answeredMs;
  }

  /** @param {number} index */
  choose(index) {
    this.selected = index;
    this.ladderElement()?.reveal(index);
  }

  /** @param {number} ms */
  moveCursor(ms) {
    this.cursorMs = ms;
    this.ladderElement()?.revealTime(ms);
  }

  ladderElement() {
    return /** @type {import("./call-ladder.js").CallLadder | null} */ (this.querySelector("call-ladder"));
  }
}

/** @param {string} callId */
function timelinePath(callId) {
  return `/srmain/voice/call/${encodeURIComponent(callId)}/timeline`;
}

/** @param {unknown} error */
function isMissing(error) {
  return error instanceof RestError && error.status === 404;
}

customElements.define("call-page", CallPage);
