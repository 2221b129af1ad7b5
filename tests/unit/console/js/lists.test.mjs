// Pages of lists, what the list of call records is sent, and the scale and days of charts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { withFilters } from "../../../../api/console/static/account/record-query.js";
import { everyDay } from "../../../../api/console/static/account/usage-days.js";
import { pageAfter, rangeText } from "../../../../api/console/static/lib/paging.js";
import { scaleOf } from "../../../../api/console/static/lib/scale.js";

const page = (/** @type {number} */ rows, /** @type {object} */ more) => ({
  data: Array(rows).fill({}),
  ...more,
});

test("a list with a cursor continues at it, also if it has an offset", () => {
  assert.deepEqual(pageAfter(page(2, { nextCursor: 17, offset: 0, total: 9 })), { cursor: "17" });
  assert.equal(pageAfter(page(2, { nextCursor: null, offset: 0, total: 9 })), null);
});

test("a list with an offset continues after its rows, until there are no more", () => {
  assert.deepEqual(pageAfter(page(50, { offset: 50, total: 120 })), { offset: 100 });
  assert.equal(pageAfter(page(20, { offset: 100, total: 120 })), null);
  assert.deepEqual(pageAfter(page(50, { offset: 50, total: 100, totalIsExact: false })), { offset: 100 });
  assert.equal(pageAfter(page(0, { offset: 200, total: 120, totalIsExact: false })), null);
  assert.equal(pageAfter(page(3, {})), null);
});

test("a page says which of how many rows it has", () => {
  assert.equal(rangeText(page(50, { offset: 50, total: 120 }), String), "51–100 of 120");
  assert.equal(rangeText(page(1, { offset: 0, total: 1 }), String), "1 row");
  assert.equal(rangeText(page(0, { offset: 0, total: 0 }), String), "0 rows");
  assert.equal(rangeText(page(50, { nextCursor: "x", total: 120, totalIsExact: false }), String), "more than 120 rows");
  assert.equal(rangeText(page(50, { nextCursor: "x" }), String), "");
});

test("records are requested with the filters that must be there", () => {
  const query = new URL(withFilters("/srmain/cdr", { callerId: "+47" }, 0), "http://x").searchParams;
  assert.equal(query.get("callerId"), "+47");
  assert.equal(query.get("dialedNumber"), "");
  assert.equal(query.get("dispositionLevel3Id"), "");
});

test("a time that is half open gets its other end", () => {
  const from = withFilters("/", { startTime: "2026-11-01T00:00:00.000Z" }, Date.UTC(2026, 10, 27));
  assert.match(from, /endTime=2026-11-27T00%3A00%3A00.000Z/);
  assert.match(withFilters("/", { endTime: "2026-11-01T00:00:00.000Z" }, 0), /startTime=2000-01-01/);
});

test("a chart has each day of its period", () => {
  const day = { date: "2026-11-02", calls: 3, answeredCalls: 2, legs: 4, minutes: 1.5, messages: 0 };
  const days = everyDay([day], "2026-11-01", "2026-11-03");
  assert.deepEqual(days.map((each) => [each.date, each.calls]), [
    ["2026-11-01", 0],
    ["2026-11-02", 3],
    ["2026-11-03", 0],
  ]);
});

test("a scale has round steps from 0, and covers the largest value", () => {
  assert.deepEqual(scaleOf(0), [0, 1]);
  assert.deepEqual(scaleOf(3), [0, 1, 2, 3]);
  assert.deepEqual(scaleOf(23), [0, 5, 10, 15, 20, 25]);
  assert.deepEqual(scaleOf(1_000), [0, 200, 400, 600, 800, 1_000]);
});
