// @ts-check
// <call-recording>: plays the recording of a call, and says where in the call it is.
//
// Fires `wave` with the peaks of both sides, and `move` with the time of the cursor.

import { html, nothing } from "../vendored/lit.js";
import { peaksOf } from "../ladder/peaks.js";
import { ConsoleElement } from "../lib/console-element.js";
import "./call-transcript.js";
import "./problem.js";

const RATE = 8_000; // of recordings, in Hz

export class CallRecording extends ConsoleElement {
  static properties = { record: { attribute: false }, startMs: { attribute: false }, error: { state: true } };

  constructor() {
    super();
    /** @type {any} */
    this.record = null;
    this.startMs = 0;
    /** @type {unknown} */
    this.error = null;
    this.url = ""; // that was decoded
    this.frame = 0;
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    cancelAnimationFrame(this.frame);
  }

  /** The first recording that can be heard. */
  get recording() {
    return this.record?.recordings?.find((/** @type {any} */ each) => each.signedUrl && each.state === "archived");
  }

  updated() {
    const { recording } = this;
    if (recording && recording.url !== this.url) {
      this.url = recording.url;
      if (recording.durationMs) void this.decode(recording.signedUrl);
    }
  }

  /** @param {string} signedUrl */
  async decode(signedUrl) {
    try {
      const response = await fetch(signedUrl);
      if (!response.ok) throw new Error(`The recording cannot be read: ${response.status}.`);
      const context = new OfflineAudioContext(1, 1, RATE);
      const audio = await context.decodeAudioData(await response.arrayBuffer());
      const sides = Array.from({ length: Math.min(2, audio.numberOfChannels) }, (_, side) =>
        peaksOf(audio.getChannelData(side), audio.sampleRate),
      );
      this.dispatchEvent(new CustomEvent("wave", { detail: { startMs: this.startMs, sides } }));
    } catch (error) {
      this.error = error instanceof Error ? error.message : error;
    }
  }

  render() {
    const { recording } = this;
    const waiting = this.record?.recordings?.some((/** @type {any} */ each) => each.state === "ended");
    if (!recording) return waiting ? html`<p class="quiet">The recording is being stored.</p>` : nothing;
    if (!recording.durationMs) {
      return html`<h2>Recording</h2><p class="quiet">It is empty: nothing was recorded before the end.</p>`;
    }
    return html`
      <h2>Recording</h2>
      <console-problem .error=${this.error}></console-problem>
      <audio controls preload="metadata" src=${recording.signedUrl}
        aria-label="Recording of the ${recording.purpose}" @play=${this.follow} @seeked=${this.move}
        @timeupdate=${this.move}></audio>
      <p class="hint">Left of the line beside the ladder: what the first leg says; right: what it hears.</p>
      <call-transcript .recording=${recording} @seek=${this.seek}></call-transcript>
    `;
  }

  /** @param {CustomEvent<number>} event */
  seek(event) {
    const audio = this.querySelector("audio");
    if (!audio) return;
    audio.currentTime = event.detail / 1_000;
    void audio.play();
  }

  follow() {
    const audio = this.querySelector("audio");
    if (!audio) return;
    this.move();
    if (!audio.paused) this.frame = requestAnimationFrame(() => this.follow());
  }

  move() {
    const audio = this.querySelector("audio");
    if (audio) this.dispatchEvent(new CustomEvent("move", { detail: this.startMs + audio.currentTime * 1_000 }));
  }
}

customElements.define("call-recording", CallRecording);
