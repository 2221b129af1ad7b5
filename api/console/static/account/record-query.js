// @ts-check
// What the list of call records and its export send: four filters must be there, also empty, and a
// time needs both of its ends.

const REQUIRED = [
  "dialedNumber",
  "dispositionLevel1Id",
  "dispositionLevel2Id",
  "dispositionLevel3Id",
];
const BEGINNING = "2000-01-01T00:00:00.000Z";

/**
 * Return the path with the filters as its query.
 * @param {string} path
 * @param {Record<string, any>} filters
 * @param {number} nowMs
 */
export function withFilters(path, filters, nowMs) {
  const query = new URLSearchParams(REQUIRED.map((name) => [name, ""]));
  for (const [name, value] of Object.entries(filters)) query.set(name, String(value));
  if (filters.startTime && !filters.endTime) query.set("endTime", new Date(nowMs).toISOString());
  if (filters.endTime && !filters.startTime) query.set("startTime", BEGINNING);
  return `${path}?${query}`;
}
