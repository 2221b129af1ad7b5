// Which controls a call has, by its state and the scopes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { coachingOf, controllableLegs, possible, sourceAndCustomer, targetOf } from "../../../../api/console/static/ladder/controls.js";

const LEGS = [
  { channelId: "a", party: "+4799" },
  { channelId: "b", party: "agent:7", agent_id: "7" },
];
const TALK = { callId: "c", state: "bridged", answeredMs: 1, legs: LEGS };
const owner = (call) => ({ call, agentId: "", may: () => true });
const agent = (call, id = "7") => ({ call, agentId: id, may: (scope) => scope.endsWith(":own") });
const reader = (call) => ({ call, agentId: "", may: (scope) => scope === "cdr" });

function names(situation) {
  return Object.entries(possible(situation)).filter(([, is]) => is).map(([name]) => name).sort();
}

test("a conversation can be controlled by the account, and by its agent but for the recording", () => {
  assert.deepEqual(names(owner(TALK)), ["conference", "dial", "hangUp", "hangUpLeg", "hold", "mute", "startRecording", "transfer"]);
  assert.deepEqual(names(agent(TALK)), ["conference", "dial", "hangUp", "hangUpLeg", "hold", "mute", "transfer"]);
  assert.deepEqual(controllableLegs(agent(TALK)).map((each) => each.channelId), ["b"]);
});

test("another agent has no leg and no control of the call", () => {
  const found = names(agent(TALK, "8"));
  assert.deepEqual(controllableLegs(agent(TALK, "8")), []);
  assert.ok(!found.includes("hangUp") && !found.includes("transfer"), found.join());
});

test("a call that rings, ends or has ended has less", () => {
  assert.deepEqual(names(owner({ ...TALK, state: "starting", answeredMs: 0 })), ["hangUp", "hangUpLeg"]);
  assert.deepEqual(names(owner({ ...TALK, state: "ending" })), []);
  assert.deepEqual(names(owner({ ...TALK, endedMs: 9 })), []);
  assert.deepEqual(names(reader(TALK)).filter((each) => each.startsWith("hangUp") && each === "hangUp"), []);
});

test("a recording is paused while it runs, resumed while it is paused", () => {
  const recorded = (state) => owner({ ...TALK, recordings: [{ purpose: "call", state }] });
  const found = (state) => names(recorded(state)).filter((each) => each.endsWith("Recording"));
  assert.deepEqual(found("running"), ["pauseRecording", "stopRecording"]);
  assert.deepEqual(found("paused"), ["resumeRecording", "stopRecording"]);
  assert.deepEqual(found("ended"), ["startRecording"]);
});

test("a transfer is completed when its target has answered, and no second one starts", () => {
  const during = (state) => names(owner({ ...TALK, transfers: [{ state }] }));
  assert.ok(during("ringback").includes("cancelTransfer") && !during("ringback").includes("completeTransfer"));
  assert.ok(during("answered").includes("completeTransfer") && !during("answered").includes("transfer"));
  assert.ok(during("completed").includes("transfer"));
});

test("a member of three can coach", () => {
  const members = [1, 2, 3].map((each) => ({ channelId: `m${each}` }));
  const conference = { state: "in-progress", members };
  assert.ok(names(owner({ ...TALK, conferences: [conference] })).includes("coach"));
  assert.ok(!names(owner({ ...TALK, conferences: [{ ...conference, state: "completed" }] })).includes("coach"));
});

test("the source of a transfer is the agent's leg, the customer the other one", () => {
  assert.deepEqual(sourceAndCustomer(owner(TALK)), { source: LEGS[1], customer: LEGS[0] });
  assert.equal(sourceAndCustomer(owner({ ...TALK, legs: [LEGS[0]] })), null);
});

test("a target is an agent or a number", () => {
  assert.deepEqual(targetOf(" agent:7 "), { kind: "agent", agentId: "7" });
  assert.deepEqual(targetOf("+4721930000"), { kind: "number", number: "+4721930000" });
});

test("a member coaches an agent, and not itself", () => {
  const members = [{ channelId: "c" }, { channelId: "a", agent_id: "7" }, { channelId: "s" }];
  const call = (changed = members) => ({ ...TALK, conferences: [{ state: "in-progress", members: changed }] });
  assert.deepEqual(coachingOf(call(), "s"), { isCoaching: false, coached: "a" });
  assert.equal(coachingOf(call(), "a"), null);
  assert.equal(coachingOf(call(), "x"), null);
  const coaches = [...members.slice(0, 2), { channelId: "s", coaches: "a" }];
  assert.deepEqual(coachingOf(call(coaches), "s"), { isCoaching: true, coached: "" });
});
