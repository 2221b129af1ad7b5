// @ts-check
// <call-ladder>: the ladder of a call. Only the steps within its window are drawn.

import { html, nothing, svg } from "../vendored/lit.js";
import { batchByFrame } from "../calls/frame-batch.js";
import { drawHeadings, drawLadder } from "../ladder/drawing.js";
import { HEAD, ROW, layOut, yOf } from "../ladder/layout.js";
import { drawWave } from "../ladder/wave.js";
import { ConsoleElement } from "../lib/console-element.js";
import { count } from "../lib/format.js";

const TABLE_PAGE = 200;
const PAGE_ROWS = 10;
/** @type {Record<string, (index: number, last: number) => number>} */
const KEYS = {
  ArrowDown: (index) => index + 1,
  ArrowUp: (index) => index - 1,
  PageDown: (index) => index + PAGE_ROWS,
  PageUp: (index) => index - PAGE_ROWS,
  Home: () => 0,
  End: (_index, last) => last,
};

/** Fires `choose` with the index of a step. */
export class CallLadder extends ConsoleElement {
  static properties = {
    ladder: { attribute: false },
    selected: { type: Number },
    wave: { attribute: false },
    cursorMs: { attribute: false },
    isTable: { state: true },
    tablePage: { state: true },
  };

  constructor() {
    super();
    /** @type {import("../ladder/model.js").Ladder | null} */
    this.ladder = null;
    this.selected = -1;
    /** @type {import("../ladder/wave.js").Wave | null} */
    this.wave = null;
    /** @type {number | null} */
    this.cursorMs = null;
    this.isTable = false;
    this.tablePage = 0;
    /** @type {import("../ladder/layout.js").Layout | null} */
    this.layout = null;
    this.follows = true; // the newest step, while the call is live and nobody scrolls up
    this.drawSoon = batchByFrame(() => this.requestUpdate());
    this.resizes = new ResizeObserver(() => {
      this.layout = null;
      this.drawSoon();
    });
  }

  connectedCallback() {
    super.connectedCallback();
    this.resizes.observe(this);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.resizes.disconnect();
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has("ladder") || changed.has("wave")) this.layout = null;
    if (this.ladder && this.layout === null) {
      this.layout = layOut(this.ladder, { width: this.clientWidth - 2, hasWave: this.wave !== null });
    }
  }

  render() {
    const { ladder, layout } = this;
    if (!ladder || !layout) return nothing;
    return html`
      <div class="row middle spread">
        <p class="quiet">
          ${count(ladder.steps.length)} ${ladder.steps.length === 1 ? "step" : "steps"}${ladder.omitted ? `; ${count(ladder.omitted)} earlier steps are left out` : ""}
        </p>
        <button aria-pressed=${this.isTable} @click=${() => (this.isTable = !this.isTable)}>As a table</button>
      </div>
      ${this.isTable ? this.renderTable(ladder) : this.renderDrawing(ladder, layout)}
    `;
  }

  /**
   * @param {import("../ladder/model.js").Ladder} ladder
   * @param {import("../ladder/layout.js").Layout} layout
   */
  renderDrawing(ladder, layout) {
    const window = this.querySelector(".ladder");
    const height = window?.clientHeight || 600;
    const top = window?.scrollTop ?? 0;
    const view = { top: top - HEAD, bottom: top + height, selected: this.selected, choose: (/** @type {number} */ index) => this.choose(index) };
    const cursorY = this.cursorMs === null ? null : yOf(layout, this.cursorMs);
    return html`
      <div class="ladder" tabindex="0" role="group" aria-describedby="ladder-help"
        aria-label="Ladder of the call" @scroll=${this.scrolled} @keydown=${this.keyDown}>
        <svg class="ladder-head" width=${layout.width} height=${HEAD} aria-hidden="true">
          ${drawHeadings(ladder, layout)}
        </svg>
        <svg class="ladder-body" width=${layout.width} height=${layout.height} role="img"
          aria-label="${count(ladder.steps.length)} steps between ${ladder.lanes.length} lanes">
          ${drawLadder(ladder, layout, view)}
          ${this.wave ? drawWave(layout, this.wave, view) : nothing}
          ${cursorY === null ? nothing : svg`<line class="cursor" x1="0" x2=${layout.width} y1=${cursorY} y2=${cursorY}></line>`}
        </svg>
      </div>
      <p class="visually-hidden" id="ladder-help">
        The arrow keys choose a step, whose details follow the ladder. The button above shows the
        steps as a table.
      </p>
    `;
  }

  /** @param {import("../ladder/model.js").Ladder} ladder */
  renderTable(ladder) {
    const pages = Math.ceil(ladder.steps.length / TABLE_PAGE);
    const page = Math.min(this.tablePage, Math.max(0, pages - 1));
    const names = new Map(ladder.lanes.map((lane) => [lane.id, `${lane.heading} ${lane.label}`.trim()]));
    const steps = ladder.steps.slice(page * TABLE_PAGE, (page + 1) * TABLE_PAGE);
    return html`
      <div class="scroll">
        <table>
          <caption class="visually-hidden">Steps of the call</caption>
          <thead>
            <tr><th scope="col" class="number">Seconds</th><th scope="col">From</th><th scope="col">To</th><th scope="col">Step</th></tr>
          </thead>
          <tbody>
            ${steps.map(
              (step) => html`
                <tr>
                  <td class="number">${((step.atMs - ladder.startMs) / 1_000).toFixed(3)}</td>
                  <td>${names.get(step.from)}</td>
                  <td>${step.to === step.from ? "" : names.get(step.to)}</td>
                  <td><button class="plain" @click=${() => this.choose(step.index)}>${step.text}</button></td>
                </tr>
              `,
            )}
          </tbody>
        </table>
      </div>
      ${pages > 1
        ? html`<div class="row middle">
            <button ?disabled=${page === 0} @click=${() => (this.tablePage = page - 1)}>Earlier</button>
            <span>Page ${page + 1} of ${pages}</span>
            <button ?disabled=${page === pages - 1} @click=${() => (this.tablePage = page + 1)}>Later</button>
          </div>`
        : nothing}
    `;
  }

  updated() {
    const window = this.querySelector(".ladder");
    if (window && this.follows && this.ladder?.isLive) window.scrollTop = window.scrollHeight;
  }

  scrolled() {
    const window = this.querySelector(".ladder");
    if (window) this.follows = window.scrollTop + window.clientHeight >= window.scrollHeight - 2 * ROW;
    this.drawSoon();
  }

  /** @param {KeyboardEvent} event */
  keyDown(event) {
    const last = (this.ladder?.steps.length ?? 0) - 1;
    const next = KEYS[event.key]?.(this.selected, last);
    if (next === undefined || last < 0) return;
    event.preventDefault();
    this.choose(Math.max(0, Math.min(last, next)));
  }

  /** @param {number} index */
  choose(index) {
    this.dispatchEvent(new CustomEvent("choose", { detail: index }));
    this.reveal(index);
  }

  /**
   * Scroll to a step.
   * @param {number} index
   */
  reveal(index) {
    const y = this.layout?.ys[index];
    if (y !== undefined) this.revealY(y);
  }

  /** @param {number} ms */
  revealTime(ms) {
    if (this.layout) this.revealY(yOf(this.layout, ms));
  }

  /** @param {number} y */
  revealY(y) {
    const window = this.querySelector(".ladder");
    if (!window) return;
    const room = window.clientHeight - HEAD;
    if (y < window.scrollTop + ROW) window.scrollTop = y - 2 * ROW;
    else if (y > window.scrollTop + room - ROW) window.scrollTop = y - room + 3 * ROW;
  }
}

customElements.define("call-ladder", CallLadder);
