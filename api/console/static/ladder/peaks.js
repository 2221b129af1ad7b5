// @ts-check
// The peaks of a recording: how loud it is, for each 20 ms.

export const PEAK_MS = 20;

/**
 * Return the loudest sample of each PEAK_MS.
 * @param {Float32Array} samples
 * @param {number} rate in Hz
 */
export function peaksOf(samples, rate) {
  const size = Math.max(1, Math.round((rate * PEAK_MS) / 1_000));
  const peaks = new Float32Array(Math.ceil(samples.length / size));
  for (let index = 0; index < samples.length; index += 1) {
    const bucket = (index / size) | 0;
    const value = Math.abs(samples[index] ?? 0);
    if (value > (peaks[bucket] ?? 0)) peaks[bucket] = value;
  }
  return peaks;
}

/**
 * Return the loudest peak between two times of the wave.
 * @param {Float32Array} peaks
 * @param {number} fromMs
 * @param {number} toMs
 */
export function loudest(peaks, fromMs, toMs) {
  let found = 0;
  const end = Math.min(peaks.length, Math.floor(toMs / PEAK_MS) + 1);
  for (let index = Math.max(0, Math.floor(fromMs / PEAK_MS)); index < end; index += 1) {
    found = Math.max(found, peaks[index] ?? 0);
  }
  return found;
}
