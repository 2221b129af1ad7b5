// @ts-check
// A part of a ladder as SVG, of whatever is between two heights.

import { nothing, svg } from "../vendored/lit.js";
import { HEAD, ROW, visibleSpans, visibleSteps, yOf } from "./layout.js";

/** @type {Record<string, number>} how far a span is from its lane, and how wide it is */
const SPAN_X = { leg: -4, verb: -6, bridge: -4, recording: 9, prompt: 14, hold: -14, mute: -20 };
/** @type {Record<string, number>} */
const SPAN_WIDTH = { leg: 8, verb: 12, bridge: 8, recording: 3, prompt: 5, hold: 6, mute: 4 };
const ARROW = 6;
const CHAR_WIDTH = 7;

/**
 * @typedef {import("./layout.js").Layout} Layout
 * @typedef {import("./model.js").Ladder} Ladder
 */

/**
 * @param {Ladder} ladder
 * @param {Layout} layout
 * @param {{top: number, bottom: number, selected: number,
 *   choose: (index: number) => void}} view
 */
export function drawLadder(ladder, layout, { top, bottom, selected, choose }) {
  const range = visibleSteps(layout, top, bottom);
  const steps = ladder.steps.slice(...range);
  return svg`
    ${ladder.lanes.map((lane) => drawLane(layout, lane, top, bottom))}
    ${visibleSpans(ladder, range).filter((span) => span.kind in SPAN_X).map((span) => drawSpan(layout, span, top, bottom))}
    ${steps.map((step) => drawStep(ladder, layout, step, step.index === selected, choose))}
  `;
}

/**
 * @param {Ladder} ladder
 * @param {Layout} layout
 */
export function drawHeadings(ladder, layout) {
  return svg`${ladder.lanes.map(
    (lane) => svg`
      <text class="lane-name" x=${x(layout, lane.id)} y="18" text-anchor="middle">${lane.heading}</text>
      <text class="lane-label" x=${x(layout, lane.id)} y=${HEAD - 10} text-anchor="middle">${clip(lane.label, layout.gap)}<title>${lane.label}</title></text>
    `,
  )}`;
}

/**
 * @param {Layout} layout
 * @param {import("./model.js").Lane} lane
 * @param {number} top
 * @param {number} bottom
 */
function drawLane(layout, lane, top, bottom) {
  const at = x(layout, lane.id);
  return svg`<line class="lane ${lane.kind}" x1=${at} x2=${at} y1=${Math.max(0, top)} y2=${Math.min(bottom, layout.height)}></line>`;
}

/**
 * @param {Layout} layout
 * @param {import("./model.js").Span} span
 * @param {number} top
 * @param {number} bottom
 */
function drawSpan(layout, span, top, bottom) {
  const from = layout.ys[span.from] ?? 0;
  const end = span.toMs === null ? layout.height : yOf(layout, span.toMs);
  const [y1, y2] = [Math.max(from, top - ROW), Math.min(Math.max(end, from + 4), bottom + ROW)];
  const at = x(layout, span.lane) + (SPAN_X[span.kind] ?? 0);
  return svg`<rect class="span ${span.kind}" x=${at} y=${y1} width=${SPAN_WIDTH[span.kind] ?? 4} height=${Math.max(0, y2 - y1)} rx="2"><title>${span.text}</title></rect>`;
}

/**
 * @param {Ladder} ladder
 * @param {Layout} layout
 * @param {import("./model.js").Step} step
 * @param {boolean} isSelected
 * @param {(index: number) => void} choose
 */
function drawStep(ladder, layout, step, isSelected, choose) {
  const y = layout.ys[step.index] ?? 0;
  const before = ladder.steps[step.index - 1];
  const isNewTime = before?.atMs !== step.atMs;
  return svg`
    <g class="step ${step.kind} ${isSelected ? "selected" : ""}" data-step=${step.index}
      @click=${() => choose(step.index)}>
      <rect class="row" x="0" y=${y - ROW / 2} width=${layout.width} height=${ROW}></rect>
      ${isNewTime ? svg`<text class="time" x="4" y=${y + 4}>${((step.atMs - ladder.startMs) / 1_000).toFixed(3)}</text>` : nothing}
      ${drawShape(layout, step, y)}
      <text class="text" x=${layout.textX} y=${y + 4}>${step.text}</text>
    </g>
  `;
}

/**
 * @param {Layout} layout
 * @param {import("./model.js").Step} step
 * @param {number} y
 */
function drawShape(layout, step, y) {
  if (step.joined.length) {
    const xs = step.joined.map((leg) => x(layout, leg));
    const [low, high] = [Math.min(...xs), Math.max(...xs)];
    return svg`
      <line class="join" x1=${low} x2=${high} y1=${y - 2} y2=${y - 2}></line>
      <line class="join" x1=${low} x2=${high} y1=${y + 2} y2=${y + 2}></line>
      ${xs.map((at) => svg`<circle class="dot" cx=${at} cy=${y} r="5"></circle>`)}
    `;
  }
  const [from, to] = [x(layout, step.from), x(layout, step.to)];
  if (from === to) return svg`<circle class="dot" cx=${from} cy=${y} r="5"></circle>`;
  const back = from < to ? -ARROW : ARROW;
  return svg`
    <line class="arrow" x1=${from} x2=${to} y1=${y} y2=${y}></line>
    <path class="head" d="M${to} ${y} l${back} -4 v8 z"></path>
  `;
}

/**
 * @param {Layout} layout
 * @param {string} lane
 */
function x(layout, lane) {
  return layout.laneX.get(lane) ?? 0;
}

/**
 * @param {string} label
 * @param {number} gap between two lanes: the label keeps its end, where numbers differ
 */
function clip(label, gap) {
  const most = Math.floor(gap / CHAR_WIDTH);
  return label.length <= most ? label : `…${label.slice(1 - most)}`;
}
