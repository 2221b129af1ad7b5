// @ts-check
// Where a ladder's lanes, steps and times are. Pure: numbers in, numbers out, in pixels.
//
// A step has a row, and the time before it adds a gap: none for milliseconds, more for a longer
// time, but never so much that a pause of a minute hides what follows.

export const ROW = 26;
export const HEAD = 44; // of the lanes' headings
const LONGEST_GAP = 60;
const GAP_OF_DOUBLE = 6;
const FIRST_GAP_MS = 60;
const TIME_WIDTH = 76;
const WAVE_WIDTH = 84;
const LANE_GAP = { min: 52, max: 130 };
const TEXT_WIDTH = 320;
const MARGIN = 20; // rows that are drawn beyond the edges

/**
 * @typedef {import("./model.js").Ladder} Ladder
 * @typedef {{
 *   width: number, height: number, gap: number, laneX: Map<string, number>, textX: number, waveX: number,
 *   ys: Float64Array, times: Float64Array,
 * }} Layout (ys and times: of each step)
 */

/**
 * @param {Ladder} ladder
 * @param {{width: number, hasWave?: boolean}} options
 * @returns {Layout}
 */
export function layOut(ladder, { width, hasWave = false }) {
  const count = ladder.lanes.length;
  const left = TIME_WIDTH + (hasWave ? WAVE_WIDTH : 0);
  const free = (width - left - TEXT_WIDTH) / Math.max(1, count);
  const gap = Math.min(LANE_GAP.max, Math.max(LANE_GAP.min, free));
  const laneX = new Map(ladder.lanes.map((lane, index) => [lane.id, left + gap * (index + 0.5)]));
  const textX = left + gap * count;
  const ys = new Float64Array(ladder.steps.length);
  const times = new Float64Array(ladder.steps.length);
  let y = ROW / 2;
  let beforeMs = ladder.startMs;
  ladder.steps.forEach((step, index) => {
    const passedMs = step.atMs - beforeMs;
    if (index) y += ROW;
    y += gapOf(passedMs);
    ys[index] = y;
    times[index] = beforeMs = Math.max(beforeMs, step.atMs);
  });
  return {
    width: Math.max(width, textX + TEXT_WIDTH),
    height: y + ROW,
    gap,
    laneX,
    textX,
    waveX: TIME_WIDTH + WAVE_WIDTH / 2,
    ys,
    times,
  };
}

/** @param {number} ms */
function gapOf(ms) {
  if (ms <= FIRST_GAP_MS) return 0;
  return Math.min(LONGEST_GAP, GAP_OF_DOUBLE * Math.log2(ms / FIRST_GAP_MS));
}

/**
 * Return the range of steps between two heights, with some beyond them.
 * @param {Layout} layout
 * @param {number} top
 * @param {number} bottom
 * @returns {[number, number]} the first one, and the one after the last
 */
export function visibleSteps({ ys }, top, bottom) {
  const first = Math.max(0, firstAbove(ys, top) - MARGIN);
  return [first, Math.min(ys.length, firstAbove(ys, bottom) + MARGIN)];
}

/**
 * Return the spans that any of some steps is in.
 * @param {Ladder} ladder
 * @param {[number, number]} range
 */
export function visibleSpans(ladder, [first, end]) {
  return ladder.spans.filter((span) => span.from < end && (span.to < 0 || span.to >= first));
}

/**
 * Return the height of a time; between two steps it moves evenly.
 * @param {Layout} layout
 * @param {number} ms
 */
export function yOf({ ys, times }, ms) {
  return interpolate(times, ys, ms);
}

/**
 * Return the time at a height.
 * @param {Layout} layout
 * @param {number} y
 */
export function timeOf({ ys, times }, y) {
  return interpolate(ys, times, y);
}

/**
 * @param {Float64Array} from ascending
 * @param {Float64Array} to
 * @param {number} value
 */
function interpolate(from, to, value) {
  if (!from.length) return 0;
  const after = firstAbove(from, value);
  const low = Math.max(0, after - 1);
  const high = Math.min(from.length - 1, after);
  const [fromLow, fromHigh] = [from[low] ?? 0, from[high] ?? 0];
  const [toLow, toHigh] = [to[low] ?? 0, to[high] ?? 0];
  if (fromHigh <= fromLow) return toLow;
  return toLow + ((toHigh - toLow) * (value - fromLow)) / (fromHigh - fromLow);
}

/**
 * Return the first index whose value is above one; the length if there is none.
 * @param {Float64Array} values ascending
 * @param {number} value
 */
export function firstAbove(values, value) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? Infinity) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
