// @ts-check
// Pages of a REST list: with a cursor, with an offset, or with neither.

/**
 * @typedef {{cursor?: string, offset?: number}} Place where a page begins, as a query
 * @typedef {Object} ListPage
 * @property {unknown[]} data
 * @property {number} [total]
 * @property {boolean} [totalIsExact] false: there are more than `total`
 * @property {number} [offset]
 * @property {string | number | null} [nextCursor]
 */

/** @returns {Place} */
export function firstPage() {
  return {};
}

/**
 * Return where the next page begins; null after the last one.
 * @param {ListPage} page
 * @returns {Place | null}
 */
export function pageAfter(page) {
  if (page.nextCursor !== undefined) {
    return page.nextCursor === null ? null : { cursor: String(page.nextCursor) };
  }
  if (page.offset === undefined || page.total === undefined || !page.data.length) return null;
  const end = page.offset + page.data.length;
  return end < page.total || page.totalIsExact === false ? { offset: end } : null;
}

/**
 * Return which rows a page has, such as "1–50 of 1,234".
 * @param {ListPage} page
 * @param {(value: number) => string} count
 */
export function rangeText(page, count) {
  const { data, total, offset = 0 } = page;
  if (total === undefined) return "";
  const all = page.totalIsExact === false ? `more than ${count(total)}` : count(total);
  // Of a page by cursor, the place in the list is not known.
  const isWhole = data.length >= total || page.nextCursor !== undefined;
  if (isWhole || !data.length) return `${all} ${total === 1 ? "row" : "rows"}`;
  return `${count(offset + 1)}–${count(offset + data.length)} of ${all}`;
}
