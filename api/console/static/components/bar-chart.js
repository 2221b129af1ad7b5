// @ts-check
// <bar-chart>: a value for each day, as SVG. Its numbers are in a table beside it.
//
//   <bar-chart label="Calls" .bars=${[{ label: "1 Nov", value: 12, part: 9 }]}></bar-chart>

import { html, nothing, svg } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import { scaleOf } from "../lib/scale.js";

const WIDTH = 960;
const HEIGHT = 220;
const LEFT = 56;
const RIGHT = 12; // half of a label that is wider than its bar
const BOTTOM = 24;
const TOP = 10;
const LABEL_WIDTH = 80; // labels are this far apart, or further

/** @typedef {{label: string, value: number, part?: number}} Bar `part`: how much of it is darker */

export class BarChart extends ConsoleElement {
  static properties = { label: {}, bars: { attribute: false }, format: { attribute: false } };

  constructor() {
    super();
    this.label = "";
    /** @type {Bar[]} */
    this.bars = [];
    /** @type {(value: number) => string} */
    this.format = String;
  }

  render() {
    const { bars } = this;
    if (!bars.length) return nothing;
    const ticks = scaleOf(Math.max(...bars.map((each) => each.value)));
    const top = ticks.at(-1) ?? 1;
    /** @param {number} value */
    const y = (value) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - BOTTOM - TOP);
    const step = (WIDTH - LEFT - RIGHT) / bars.length;
    const each = Math.ceil(LABEL_WIDTH / step);
    return html`
      <svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${this.label}>
        ${ticks.map(
          (tick) => svg`
            <line class="grid" x1=${LEFT} x2=${WIDTH} y1=${y(tick)} y2=${y(tick)} />
            <text x=${LEFT - 6} y=${y(tick) + 4} text-anchor="end">${this.format(tick)}</text>`,
        )}
        ${bars.map((bar, place) => this.renderBar(bar, LEFT + place * step, step, y, place % each === 0))}
      </svg>
    `;
  }

  /**
   * @param {Bar} bar
   * @param {number} x
   * @param {number} step
   * @param {(value: number) => number} y
   * @param {boolean} hasLabel
   */
  renderBar(bar, x, step, y, hasLabel) {
    const width = Math.max(1, Math.min(step - 2, 40));
    const left = x + (step - width) / 2;
    const part = bar.part ?? bar.value;
    return svg`
      <g>
        <title>${bar.label}: ${this.format(bar.value)}</title>
        <rect class="bar-whole" x=${left} width=${width} y=${y(bar.value)} height=${y(0) - y(bar.value)} />
        <rect class="bar-part" x=${left} width=${width} y=${y(part)} height=${y(0) - y(part)} />
        ${hasLabel ? svg`<text x=${x + step / 2} y=${HEIGHT - 6} text-anchor="middle">${bar.label}</text>` : nothing}
      </g>
    `;
  }
}

customElements.define("bar-chart", BarChart);
