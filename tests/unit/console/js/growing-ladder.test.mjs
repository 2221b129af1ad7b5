// The ladder of a call that goes on: as if it were built of the whole timeline.

import assert from "node:assert/strict";
import { test } from "node:test";
import { GrowingLadder } from "../../../../api/console/static/ladder/growing.js";
import { buildLadder } from "../../../../api/console/static/ladder/model.js";
import { moment, talk, timeline, webhookFails } from "./timelines.mjs";

const part = (whole, moments, attempts = [], call = {}) => ({
  call: { ...whole.call, endedMs: 0, ...call }, moments, attempts, omitted: 0, next: `${moments.length}.0-0`,
});
const begin = (whole) =>
  new GrowingLadder({ ...whole, call: { ...whole.call, endedMs: 0 }, moments: whole.moments.slice(0, 1), attempts: [], next: "1.0-0" });

for (const [name, make] of [["a conversation", talk], ["a failure", () => webhookFails("status_500: oops")]]) {
  test(`${name}, moment by moment, is that of the whole timeline`, () => {
    const whole = make();
    const growing = begin(whole);
    for (const each of whole.moments.slice(1)) growing.add(part(whole, [each]));
    growing.add(part(whole, [], whole.attempts));
    growing.add(part(whole, [], [], { endedMs: whole.call.endedMs }));
    assert.deepEqual(growing.ladder, buildLadder(whole));
    assert.deepEqual(growing.timeline.moments, whole.moments);
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
  growing.add(part(whole, whole.moments.slice(1)));
  assert.notEqual(growing.ladder, ladder);
  assert.equal(growing.ladder.steps[0], first);
  assert.equal(growing.next, `${whole.moments.length - 1}.0-0`);
});

test("a moment before the last step comes before it", () => {
  const callback = { id: "2-0", atMs: 1_500, kind: "callback", requestId: "e1", url: "https://shop.example/status", status: 200,
    tookMs: 3, outcome: "succeeded" };
  const whole = timeline(
    [moment(0, { type: "call-opened" }, [{ type: "answer", leg: "a" }]), moment(300, { type: "digit-pressed", leg: "a", digit: "4" })],
    {},
    [callback],
  );
  const growing = begin(whole);
  growing.add(part(whole, [], [callback]));
  growing.add(part(whole, whole.moments.slice(1)));
  assert.deepEqual(growing.ladder.steps.map((each) => each.text),
    ["answers the call", "presses 4", "status callback: 200 in 3 ms"]);
});
