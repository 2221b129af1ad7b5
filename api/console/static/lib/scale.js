// @ts-check
// The scale of a chart: round numbers from 0 to the first one that all values are below.

const MAX_TICKS = 5;
const ROUND = [1, 2, 5, 10];

/**
 * Return the ticks for values up to a number.
 * @param {number} largest
 * @returns {number[]}
 */
export function scaleOf(largest) {
  const rough = Math.max(largest, 1) / MAX_TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = ROUND.find((each) => each * power >= rough) ?? 10;
  const step = Math.max(1, factor * power);
  const ticks = [0];
  while (/** @type {number} */ (ticks.at(-1)) < largest || ticks.length < 2) {
    ticks.push(ticks.length * step);
  }
  return ticks;
}
