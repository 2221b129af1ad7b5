// @ts-check
// The days of a chart: REST returns those with usage only.

const DAY_MS = 86_400_000;

/** @typedef {{date: string, calls: number, answeredCalls: number, legs: number, minutes: number, messages: number}} UsageDay */

/**
 * Return each day of a period, also those without usage.
 * @param {UsageDay[]} days
 * @param {string} first
 * @param {string} last
 * @returns {UsageDay[]}
 */
export function everyDay(days, first, last) {
  const byDate = new Map(days.map((each) => [each.date, each]));
  const found = [];
  for (let at = Date.parse(first); at <= Date.parse(last); at += DAY_MS) {
    const date = new Date(at).toISOString().slice(0, 10);
    const none = { date, calls: 0, answeredCalls: 0, legs: 0, minutes: 0, messages: 0 };
    found.push(byDate.get(date) ?? none);
  }
  return found;
}
