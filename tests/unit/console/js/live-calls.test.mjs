// The list of live calls: moved on by events, checked against lists.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LiveCalls, phaseOf, stateTag } from "../../../../api/console/static/calls/live-calls.js";

const START = { callId: "c1", direction: "inbound", from: "+1", to: "+2", callStatus: "initiated" };

function event(name, more = {}) {
  return { ...START, event: name, timestamp: 1_000, ...more };
}

function row(callId, more = {}) {
  return { callId, direction: "inbound", from: "+1", to: "+2", state: "bridged", createdMs: 5, ...more };
}

test("events lead a call through its phases", () => {
  const live = new LiveCalls();
  const phases = [
    [event("initiated"), "ringing"],
    [event("answered", { channelId: "a" }), "menu"],
    [event("gathered", { channelId: "a", dtmf: "1" }), "menu"],
    [event("leg-initiated", { channelId: "b", party: "agent:7", agent_id: "7" }), "ringing"],
    [event("leg-answered", { channelId: "b", party: "agent:7", agent_id: "7" }), "talking"],
    [event("leg-held", { channelId: "a" }), "hold"],
    [event("leg-unheld", { channelId: "a" }), "talking"],
    [event("leg-completed", { channelId: "b" }), "menu"],
    [event("completed"), "ended"],
  ];
  for (const [each, phase] of phases) {
    live.apply(each, 10);
    assert.equal(phaseOf(live.calls.get("c1")), phase, each.event);
  }
  assert.deepEqual(live.counts(), { live: 0, ringing: 0, menu: 0, talking: 0, hold: 0 });
});

test("a list that is older than an event does not undo it", () => {
  const live = new LiveCalls();
  live.apply(event("initiated"), 100);
  live.apply(event("completed"), 120);
  live.reconcile([row("c1")], 90);
  assert.equal(phaseOf(live.calls.get("c1")), "ended");
  live.apply(event("initiated", { callId: "c2" }), 130);
  live.reconcile([], 125);
  assert.equal(phaseOf(live.calls.get("c2")), "ringing");
  live.reconcile([row("c2")], 131);
  assert.equal(phaseOf(live.calls.get("c2")), "talking");
});

test("a call that a list no longer has fades out, and is dropped", () => {
  const live = new LiveCalls();
  live.reconcile([row("c1")], 10);
  live.reconcile([], 1_000);
  assert.equal(phaseOf(live.calls.get("c1")), "ended");
  assert.equal(live.sweep(2_000), true);
  assert.equal(live.sweep(4_000), false);
  assert.equal(live.calls.size, 0);
  live.reconcile([row("c1")], 4_100); // an old list of another process
  assert.equal(live.calls.size, 0);
  live.sweep(61_001);
  assert.equal(live.ended.size, 0);
});

test("a page of a longer list ends no call that is not on it", () => {
  const live = new LiveCalls();
  live.reconcile([row("c1")], 10);
  live.reconcile([row("c2")], 20, false);
  assert.equal(live.counts().live, 2);
});

test("filters match numbers and agents of legs in part, and all of them together", () => {
  const live = new LiveCalls();
  const legs = [{ channelId: "b", party: "agent:1001", agent_id: "1001", held: true }];
  live.reconcile([row("c1", { legs, agents: ["1001"], createdMs: 6 }), row("c2", { from: "+4799" })], 10);
  const ids = (filters) => live.matching(filters).map((each) => each.callId);
  assert.deepEqual(ids({}), ["c1", "c2"]);
  assert.deepEqual(ids({ number: "479" }), ["c2"]);
  assert.deepEqual(ids({ agent: "100" }), ["c1"]);
  assert.deepEqual(ids({ phase: "hold" }), ["c1"]);
  assert.deepEqual(ids({ phase: "talking", agent: "1001" }), []);
  assert.deepEqual(ids({ direction: "outbound" }), []);
  live.apply(event("leg-completed", { callId: "c1", channelId: "b", agent_id: "1001" }), 20);
  assert.deepEqual(ids({ agent: "1001" }), ["c1"], "one that took part");
});

test("a prompt that failed is known, from events and from lists", () => {
  const live = new LiveCalls();
  live.apply(event("initiated"), 10);
  live.apply(event("media-failed", { source: "https://a", reason: "not_found" }), 20);
  live.apply(event("media-failed", { source: "https://b", reason: "timeout" }), 30);
  assert.deepEqual(live.calls.get("c1").mediaFault, { source: "https://a", reason: "not_found" });
  live.reconcile([row("c2", { mediaFault: { source: "https://a", reason: "not_found" } })], 40, false);
  assert.equal(live.calls.get("c2").mediaFault.reason, "not_found");
  live.apply(event("completed", { reason: "action_failed:not_json" }), 50);
  assert.equal(live.calls.get("c1").reason, "action_failed:not_json");
});

test("a conversation of which a party is on hold says so", () => {
  const legs = [{ held: true }, {}];
  assert.equal(stateTag({ state: "bridged", legs }).text, "on hold");
  assert.equal(stateTag({ state: "bridged", legs: [{ held_by_phone: true }] }).text, "on hold");
  assert.deepEqual(stateTag({ state: "bridged", legs: [{}] }), { text: "talking", kind: "good" });
});
