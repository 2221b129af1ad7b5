// The series of the charts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Trends, fromCdr, fromCompleted } from "../../../../api/console/static/calls/trends.js";

const MINUTE = 60_000;
const NOW = 100 * MINUTE;

function call(id, createdMs, endedMs, more = {}) {
  return { id, createdMs, endedMs, isAnswered: true, waitedMs: 2_000, ...more };
}

test("a minute has the calls that were live in it, and the rates of those that ended", () => {
  const trends = new Trends(60 * MINUTE);
  trends.add(call("a", NOW - 2.5 * MINUTE, NOW - 1.5 * MINUTE));
  trends.add(call("b", NOW - 1.9 * MINUTE, NOW - 1.2 * MINUTE, { isAnswered: false, waitedMs: 6_000 }));
  const found = trends.series(NOW, 3, [NOW - 0.5 * MINUTE]);
  assert.deepEqual(found.times, [97, 98, 99].map((each) => each * 60));
  assert.deepEqual(found.live, [1, 2, 1]);
  assert.deepEqual(found.answerRate, [null, 50, null]);
  assert.deepEqual(found.waitS, [null, 4, null]);
  assert.deepEqual(trends.totals(NOW, 3), { ended: 2, answerRate: 50, waitS: 4 });
  assert.deepEqual(trends.totals(NOW, 1), { ended: 0, answerRate: null, waitS: null });
});

test("a call counts once, also if its record and its event are read", () => {
  const trends = new Trends(60 * MINUTE);
  trends.add(call("a", NOW - MINUTE, NOW - 1));
  trends.add(call("a", NOW - MINUTE, NOW - 1));
  assert.equal(trends.totals(NOW, 30).ended, 1);
});

test("minutes before the oldest record of a full page are not known", () => {
  const trends = new Trends(60 * MINUTE);
  trends.sinceMs = NOW - 1.5 * MINUTE;
  assert.deepEqual(trends.series(NOW, 3, []).live, [null, 0, 0]);
});

test("calls beyond the span are forgotten", () => {
  const trends = new Trends(60 * MINUTE);
  trends.add(call("a", 0, NOW - 61 * MINUTE));
  trends.series(NOW, 30, []);
  assert.equal(trends.ended.size, 0);
});

test("a record and an event of the same call are read alike", () => {
  const record = { createdMs: 1_000, endedMs: 9_000, answeredMs: 2_000, status: "completed",
    direction: "outbound", legs: [], ringMs: 1_000, waitMs: 500 };
  const row = { reqId: "c", startTime: new Date(1_000).toISOString(), ringMs: 1_000, waitMs: 500,
    endTime: new Date(9_000).toISOString(), answerStatus: "answered" };
  assert.deepEqual(fromCompleted({ callId: "c", record }), fromCdr(row));
});

test("an inbound call is answered if a called party has talked, or without one but a voicemail", () => {
  const base = { createdMs: 1, endedMs: 2, answeredMs: 1, status: "completed", direction: "inbound", from: "+1" };
  const answered = (more) => fromCompleted({ callId: "c", record: { ...base, ...more } }).isAnswered;
  const caller = { party: "+1", talkMs: 0, holdMs: 0 };
  assert.equal(answered({ legs: [caller, { party: "+2", talkMs: 0, holdMs: 0 }] }), false);
  assert.equal(answered({ legs: [caller, { party: "+2", talkMs: 5, holdMs: 0 }] }), true);
  assert.equal(answered({ legs: [caller] }), true);
  assert.equal(answered({ legs: [caller], recordings: [{ purpose: "voicemail" }] }), false);
  assert.equal(answered({ legs: [caller], status: "failed" }), false);
});
