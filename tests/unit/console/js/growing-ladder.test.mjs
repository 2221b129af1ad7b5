// The ladder of a call that goes on: as if it were built of the whole timeline.

import assert from "node:assert/strict";
import { test } from "node:test";
import { GrowingLadder, buildLadder } from "../../../../api/console/static/ladder/model.js";
import { row, talk, timeline, webhookFails } from "./timelines.mjs";

const part = (whole, rows, attempts = [], call = {}) => ({
  call: { ...whole.call, endedMs: 0, ...call }, lifelines: whole.lifelines, rows, attempts, omitted: 0, next: `${rows.length}.0-0`,
});
const begin = (whole) =>
  new GrowingLadder({ ...whole, call: { ...whole.call, endedMs: 0 }, lifelines: whole.lifelines.slice(0, 2), rows: whole.rows.slice(0, 1), attempts: [], next: "1.0-0" });

for (const [name, make] of [["a conversation", talk], ["a failure", () => webhookFails("status_nnn", "It failed.")]]) {
  test(`${name}, row by row, is that of the whole timeline`, () => {
    const whole = make();
    const growing = begin(whole);
    for (const each of whole.rows.slice(1)) growing.add(part(whole, [each]));
    growing.add(part(whole, [], whole.attempts));
    growing.add(part(whole, [], [], { endedMs: whole.call.endedMs }));
    assert.deepEqual(growing.ladder, buildLadder(whole));
    assert.deepEqual(growing.timeline.rows, whole.rows);
    assert.deepEqual(growing.timeline.attempts, whole.attempts);
  });
}

test("what is built stays; a read without news changes nothing", () => {
  const whole = talk();
  const growing = begin(whole);
  const { ladder } = growing;
  const [first] = ladder.steps;
  growing.add(part(whole, []));
  assert.equal(growing.ladder, ladder);
  growing.add(part(whole, whole.rows.slice(1)));
  assert.notEqual(growing.ladder, ladder);
  assert.equal(growing.ladder.steps[0], first);
  assert.equal(growing.next, `${whole.rows.length - 1}.0-0`);
});

test("a row that is known later comes where it happened", () => {
  const whole = timeline([row(0, "engine", "a", "answers the call"), row(300, "a", "engine", "presses 4")]);
  const growing = begin(whole);
  growing.add(part(whole, [row(500, "engine", "web:shop.example", "status callback: 200 in 3 ms")]));
  growing.add(part(whole, whole.rows.slice(1)));
  assert.deepEqual(growing.ladder.steps.map((each) => each.text),
    ["answers the call", "presses 4", "status callback: 200 in 3 ms"]);
});
