// @ts-check
// <call-charts>: live calls, answer rate and waiting time of the last 30 or 60 minutes.

import { html, nothing } from "../vendored/lit.js";
import { Trends, fromCdr, fromCompleted } from "../calls/trends.js";
import { ConsoleElement } from "../lib/console-element.js";
import { may } from "../lib/page.js";
import { get } from "../lib/rest.js";
import "./problem.js";

const SPAN_MS = 3_600_000;
const MAX_ROWS = 1_000;
const DRAW_MS = 5_000;
const SOON_MS = 1_000; // after a call has ended
const HEIGHT = 110;
const KEY = "switchroom-chart-minutes";
const NO_FILTERS = "dialedNumber=&dispositionLevel1Id=&dispositionLevel2Id=&dispositionLevel3Id=";
/** @type {[keyof import("../calls/trends.js").Series, string][]} */
const CHARTS = [
  ["live", "Live calls"],
  ["answerRate", "Answered, %"],
  ["waitS", "Waiting time, s"],
];

/** @type {Record<string, number>} the end of a scale that is always shown */
const HIGHEST = { answerRate: 100 };

export class CallCharts extends ConsoleElement {
  static properties = { live: { attribute: false }, minutes: { state: true }, error: { state: true } };

  constructor() {
    super();
    /** @type {import("../calls/live-calls.js").LiveCalls | null} */
    this.live = null;
    this.minutes = localStorage.getItem(KEY) === "60" ? 60 : 30;
    /** @type {unknown} */
    this.error = null;
    this.trends = new Trends(SPAN_MS);
    /** @type {any[]} the charts of uPlot */
    this.charts = [];
    this.timer = 0;
    this.drawTimer = 0;
    this.themes = new MutationObserver(() => void this.rebuild());
    this.resizes = new ResizeObserver(() => this.resize());
  }

  connectedCallback() {
    super.connectedCallback();
    void this.load();
    this.timer = window.setInterval(() => this.draw(), DRAW_MS);
    this.themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.resizes.observe(this);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    window.clearInterval(this.timer);
    window.clearTimeout(this.drawTimer);
    this.themes.disconnect();
    this.resizes.disconnect();
  }

  /** @param {any} event of the account's stream */
  take(event) {
    if (event.event !== "completed" || !event.record) return;
    this.trends.add(fromCompleted(event));
    this.drawTimer ||= window.setTimeout(() => this.draw(), SOON_MS);
  }

  async load() {
    if (!may("cdr:own")) return;
    const now = Date.now();
    const range = `startTime=${iso(now - 2 * SPAN_MS)}&endTime=${iso(now + 60_000)}&limit=${MAX_ROWS}`;
    try {
      const { data, total } = await get(`/srmain/cdr?${NO_FILTERS}&${range}`);
      data.forEach((/** @type {any} */ row) => this.trends.add(fromCdr(row)));
      const oldest = data.at(-1);
      if (oldest && total > data.length) this.trends.sinceMs = Date.parse(oldest.startTime);
    } catch (error) {
      this.error = error;
    }
    await this.rebuild();
  }

  async rebuild() {
    const { uPlot } = await import("../vendored/uplot.js");
    this.charts.forEach((chart) => chart.destroy());
    this.charts = CHARTS.map(([name, title]) => {
      const target = /** @type {HTMLElement} */ (this.querySelector(`[data-chart=${name}]`));
      return new uPlot(options(title, target.clientWidth, name !== "live", HIGHEST[name]), [[], []], target);
    });
    this.draw();
  }

  draw() {
    this.drawTimer = 0;
    if (!this.charts.length || document.hidden) return;
    const liveMs = [...(this.live?.calls.values() ?? [])]
      .filter((each) => !each.endedAtMs)
      .map((each) => each.createdMs);
    const series = this.trends.series(Date.now(), this.minutes, liveMs);
    CHARTS.forEach(([name], index) => this.charts[index].setData([series.times, series[name]]));
    this.requestUpdate();
  }

  resize() {
    for (const chart of this.charts) {
      const width = chart.root.parentElement.clientWidth;
      if (width) chart.setSize({ width, height: HEIGHT });
    }
  }

  render() {
    if (!may("cdr:own")) return nothing;
    const totals = this.trends.totals(Date.now(), this.minutes);
    const rate = totals.answerRate === null ? "none" : `${totals.answerRate.toFixed(0)} %`;
    const wait = totals.waitS === null ? "none" : `${totals.waitS.toFixed(1)} s a call`;
    /** @type {Record<string, string>} */
    const texts = { live: `${totals.ended} ended`, answerRate: rate, waitS: wait };
    return html`
      <section class="charts" aria-label="The last ${this.minutes} minutes">
        <div class="row middle" role="group" aria-label="Time shown">
          ${[30, 60].map(
            (each) => html`<button aria-pressed=${each === this.minutes}
              @click=${() => this.choose(each)}>${each} minutes</button>`,
          )}
        </div>
        <console-problem .error=${this.error}></console-problem>
        <div class="cards">
          ${CHARTS.map(
            ([name, title]) => html`
              <figure class="card chart">
                <figcaption>${title} <span class="quiet">${texts[name]}</span></figcaption>
                <div data-chart=${name} aria-hidden="true"></div>
              </figure>
            `,
          )}
        </div>
      </section>
    `;
  }

  /** @param {number} minutes */
  choose(minutes) {
    this.minutes = minutes;
    localStorage.setItem(KEY, String(minutes));
    this.draw();
  }
}

/** @param {number} ms */
function iso(ms) {
  return encodeURIComponent(new Date(ms).toISOString());
}

/**
 * Return a colour of the shown theme, for a canvas.
 * @param {string} name
 */
function colour(name) {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = `var(${name})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/**
 * @param {string} title
 * @param {number} width
 * @param {boolean} hasGaps
 * @param {number} [highest] of its scale; as high as its values if absent
 */
function options(title, width, hasGaps, highest) {
  const axis = {
    stroke: colour("--quiet"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: Math.max(width, 100),
    height: HEIGHT,
    cursor: { show: false },
    legend: { show: false },
    scales: { y: { range: rangeTo(highest) } },
    axes: [{ ...axis, size: 26, values: hours }, { ...axis, size: 40 }],
    series: [
      {},
      {
        label: title,
        stroke: colour("--accent"),
        fill: colour("--accent-fill"),
        width: 2,
        spanGaps: true,
        points: { show: hasGaps, size: 4, fill: colour("--accent") }, // one value alone has no line
      },
    ],
  };
}

/**
 * @param {number} [highest]
 * @returns {(chart: any, low: number, high: number) => [number, number]}
 */
function rangeTo(highest) {
  return (_chart, _low, high) => [0, highest ?? Math.max(1, Math.ceil((high || 1) * 1.1))];
}

/**
 * @param {any} _chart
 * @param {number[]} times
 */
function hours(_chart, times) {
  return times.map((each) => {
    const at = new Date(each * 1_000);
    return `${String(at.getHours()).padStart(2, "0")}:${String(at.getMinutes()).padStart(2, "0")}`;
  });
}

customElements.define("call-charts", CallCharts);
