// @ts-check
// <call-transcript>: what was said in a recording, once it is known.
//
// Fires `seek` with the time of an utterance in the recording, in milliseconds, when it is chosen.

import { html, nothing } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import { duration } from "../lib/format.js";
import { RestError, get } from "../lib/rest.js";
import "./problem.js";

const POLL_MS = 3_000;
const UNSURE = 0.5; // below it, something else was probably said
/** @type {Record<string, string>} */
const SIDES = { main: "first leg", other: "others" };
/** @type {Record<string, string>} */
const WAITS = { queued: "The recording waits for its transcript.", running: "The recording is being transcribed." };

/** @typedef {{channel: string, startMs: number, endMs: number, text: string, confidence: number}} Segment */

export class CallTranscript extends ConsoleElement {
  static properties = { recording: { attribute: false }, transcript: { state: true }, error: { state: true } };

  constructor() {
    super();
    /** @type {any} of a call record */
    this.recording = null;
    /** @type {any} */
    this.transcript = null;
    /** @type {unknown} */
    this.error = null;
    this.url = ""; // that is read
    this.timer = 0;
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    window.clearTimeout(this.timer);
    this.url = "";
  }

  updated() {
    const { recording } = this;
    if (!recording?.transcript || recording.url === this.url) return;
    this.url = recording.url;
    void this.read();
  }

  async read() {
    const path = this.url.split("/").slice(-3).map(encodeURIComponent).join("/");
    try {
      this.transcript = await get(`/srmain/recordings/files/${path}/transcript`);
      this.error = null;
    } catch (error) {
      this.error = error;
      if (error instanceof RestError && error.status === 404) return; // it was deleted
    }
    if (this.isConnected && (this.error || this.transcript?.state in WAITS)) {
      this.timer = window.setTimeout(() => void this.read(), POLL_MS);
    }
  }

  render() {
    const { transcript } = this;
    if (!transcript) return html`<console-problem .error=${this.error}></console-problem>`;
    return html`
      <h2 id="transcript">Transcript</h2>
      ${transcript.state === "done" ? this.renderSegments(transcript.segments) : html`<p class="quiet">${state(transcript)}</p>`}
    `;
  }

  /** @param {Segment[]} segments */
  renderSegments(segments) {
    if (!segments.length) return html`<p class="quiet">Nothing was understood.</p>`;
    return html`<div class="scroll section">
      <table aria-labelledby="transcript">
        <thead><tr><th scope="col">At</th><th scope="col">Who</th><th scope="col">Text</th></tr></thead>
        <tbody>${segments.map((each) => this.row(each))}</tbody>
      </table>
    </div>`;
  }

  /** @param {Segment} segment */
  row(segment) {
    const at = duration(segment.startMs);
    return html`<tr>
      <td><button type="button" class="plain small" aria-label="Play from ${at}" @click=${() => this.seek(segment.startMs)}>${at}</button></td>
      <td>${SIDES[segment.channel] ?? segment.channel}</td>
      <td>${segment.text}${segment.confidence < UNSURE ? html` <span class="quiet">(unsure)</span>` : nothing}</td>
    </tr>`;
  }

  /** @param {number} ms */
  seek(ms) {
    this.dispatchEvent(new CustomEvent("seek", { detail: ms }));
  }
}

/** @param {any} transcript that is not done */
function state(transcript) {
  return WAITS[transcript.state] ?? `The recording could not be transcribed: ${transcript.detail ?? transcript.reason}.`;
}

customElements.define("call-transcript", CallTranscript);
