// The events of a call, as the playground lists them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { detailsOf, eventsOf, titleOf } from "../../../../api/console/static/playground/event-text.js";

test("an event is described by what only it has", () => {
  const event = { id: "c.e1", event: "digits", callId: "c", timestamp: 1, digits: "12", reason: null, parties: { a: 1 } };
  assert.equal(detailsOf(event, { 3: "no route to the destination" }), 'digits: 12, parties: {"a":1}');
  assert.ok(detailsOf({ text: "x".repeat(1_000) }, {}).length < 250);
});

test("an event is said in words, one without words by its name", () => {
  const event = { event: "leg-completed", legStatus: "failed", hangupCause: 3, parentCallId: "c", duration: 0 };
  assert.equal(titleOf(event), "The party's part has ended");
  assert.equal(detailsOf(event, { 3: "no route to the destination" }), "status: failed, cause: no route to the destination (3), duration: 0 s");
  assert.equal(titleOf({ event: "recording-paused" }), "Recording paused");
  assert.equal(titleOf({ event: "gathered", dtmf: "1" }), "Keys were pressed");
  assert.equal(titleOf({ event: "gathered", dtmf: "", speech: "sales" }), "The caller has spoken");
});

test("the events of a call come in their order, each once", () => {
  const events = [
    { id: "c.e1", callId: "c", sequenceNumber: 1 },
    { id: "d.e0", callId: "d", sequenceNumber: 0 },
    { id: "c.e0", callId: "c", sequenceNumber: 0 },
    { id: "c.e1", callId: "c", sequenceNumber: 1 },
  ];
  assert.deepEqual(eventsOf(events, "c").map((each) => each.id), ["c.e0", "c.e1"]);
});
