// @ts-check
// The waveform of a recording beside the ladder, on the same axis of time: both sides.

import { svg } from "../vendored/lit.js";
import { timeOf } from "./layout.js";
import { loudest } from "./peaks.js";

const STEP = 2; // pixels
const HALF = 38;

/** @typedef {{startMs: number, sides: Float32Array[]}} Wave (a peak of 0 to 1 for each PEAK_MS of peaks.js) */

/**
 * @param {import("./layout.js").Layout} layout
 * @param {Wave} wave
 * @param {{top: number, bottom: number}} view
 */
export function drawWave(layout, wave, { top, bottom }) {
  return svg`${wave.sides.map((peaks, side) => {
    const sign = side === 0 ? -1 : 1;
    const points = [];
    for (let y = Math.max(0, top); y < Math.min(bottom, layout.height); y += STEP) {
      const from = timeOf(layout, y) - wave.startMs;
      const to = timeOf(layout, y + STEP) - wave.startMs;
      points.push(`${(layout.waveX + sign * HALF * loudest(peaks, from, to)).toFixed(1)} ${y}`);
    }
    if (!points.length) return svg``;
    const first = Math.max(0, top);
    return svg`<path class="wave side${side}" d="M${layout.waveX} ${first} L${points.join(" L")} L${layout.waveX} ${first + STEP * (points.length - 1)} Z"></path>`;
  })}`;
}
