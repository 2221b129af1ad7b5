// @ts-check
// Values as people read them.

const TIME = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const DATE_TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const NUMBER = new Intl.NumberFormat("en-GB");
const UNITS = ["B", "KB", "MB", "GB", "TB"];

/** @param {number | string | Date} at milliseconds, or an ISO 8601 time */
export function time(at) {
  return TIME.format(new Date(at));
}

/** @param {number | string | Date} at milliseconds, or an ISO 8601 time */
export function dateTime(at) {
  return DATE_TIME.format(new Date(at));
}

/** @param {number} value */
export function count(value) {
  return NUMBER.format(value);
}

/**
 * Return a duration such as 0:07, 12:30 or 1:02:03.
 * @param {number} ms
 */
export function duration(ms) {
  const total = Math.max(0, Math.floor(ms / 1_000));
  const [hours, minutes, seconds] = [
    Math.floor(total / 3_600),
    Math.floor(total / 60) % 60,
    total % 60,
  ];
  const tail = `${pad(seconds)}`;
  return hours ? `${hours}:${pad(minutes)}:${tail}` : `${minutes}:${tail}`;
}

/** @param {number} bytes */
export function size(bytes) {
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit ? value.toFixed(1) : value} ${UNITS[unit]}`;
}

/** @param {number} value */
function pad(value) {
  return String(value).padStart(2, "0");
}
