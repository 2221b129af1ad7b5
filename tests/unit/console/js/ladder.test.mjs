// The ladder of a call: its lanes, steps, spans and faults, from timelines as REST returns them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { buildLadder, explain, findFaults } from "../../../../api/console/static/ladder/model.js";
import { ATTEMPT, row, span, talk, timeline, webhookFails } from "./timelines.mjs";

const texts = (ladder) => ladder.steps.map((each) => each.text);
const faults = (whole) => findFaults(whole.call, buildLadder(whole).steps);

test("legs are lanes, then the engine, then each server", () => {
  const { lanes } = buildLadder(talk());
  assert.deepEqual(lanes.map((each) => [each.heading, each.label]), [
    ["A", "+4799"], ["B", "agent:7"], ["engine", ""], ["server", "shop.example"],
  ]);
});

test("each row with a text is a step, with the attempts of its request, or its own", () => {
  const whole = talk();
  const ladder = buildLadder(whole);
  assert.deepEqual(texts(ladder), whole.rows.map((each) => each.text).filter(Boolean));
  assert.deepEqual(ladder.steps.map((each) => each.index), [...ladder.steps.keys()]);
  const [, webhook, response] = ladder.steps;
  assert.deepEqual([webhook.from, webhook.to, webhook.request], ["engine", "web:shop.example", "r0"]);
  assert.deepEqual([response.from, response.to, response.details.type], ["web:shop.example", "engine", "action-received"]);
  assert.deepEqual(response.attempts.map((each) => each.id), ["1-0"]);
  assert.deepEqual(ladder.steps.at(-1).attempts.map((each) => each.id), ["2-0"]);
  assert.deepEqual(ladder.steps[0], {
    index: 0, atMs: 1_000, text: "answers the call", kind: "plain", from: "engine", to: "a", joined: [],
    details: null, request: "", attempts: [], fault: null,
  });
});

test("a request that a listener got says so; one that was repeated by hand has its own step", () => {
  const rows = [row(3, "engine", "web:x", "webhook", { request: "r0" })];
  const attempts = [{ ...ATTEMPT, toListener: true }, { ...ATTEMPT, id: "9-0", retryOf: "1-0" }];
  const [step] = buildLadder(timeline(rows, {}, attempts)).steps;
  assert.equal(step.text, "webhook (to a listener)");
  assert.deepEqual(step.attempts.map((each) => each.id), ["1-0"]);
});

test("verbs, prompts, bridges, holds and mutes are spans with their times", () => {
  const ladder = buildLadder(talk());
  const spans = (kind) =>
    ladder.spans.filter((each) => each.kind === kind).map((each) => [each.lane, each.fromMs - 1_000, each.toMs - 1_000]);
  assert.deepEqual(spans("verb"), [["engine", 10, 400], ["engine", 400, 5_000]]);
  assert.deepEqual(spans("prompt"), [["a", 50, 400]]);
  assert.deepEqual(spans("bridge"), [["a", 900, 5_000], ["b", 900, 5_000]]);
  assert.deepEqual(spans("hold"), [["b", 1_500, 2_000]]);
  assert.deepEqual(spans("mute"), [["a", 2_100, 2_200]]);
  assert.deepEqual(spans("leg"), [["a", 0, 5_000], ["b", 400, 5_050]]);
});

test("what is not over yet has no end, and what had begun before the first row has no span", () => {
  const live = talk();
  live.rows = live.rows.slice(0, 10);
  live.call = { ...live.call, endedMs: 0 };
  const ladder = buildLadder(live);
  assert.equal(ladder.isLive, true);
  assert.equal(ladder.spans.find((each) => each.kind === "bridge").toMs, null);
  assert.deepEqual(buildLadder(timeline([row(5, "a", "engine", "hung up", { ends: [span("a", "leg")] })])).spans, []);
});

test("a webhook that returns HTML is said first, with what it returned", () => {
  const text = "The server at https://shop.example/call did not return JSON.";
  const found = faults(webhookFails("not_json", text));
  assert.equal(found.length, 1);
  assert.deepEqual([found[0].code, found[0].request, found[0].isCause, found[0].index], ["not_json", "r0", true, 2]);
  const details = { url: "https://shop.example/call", status: 200, responseHeaders: { "Content-Type": "text/html" },
    responseBody: { text: "<html>" } };
  assert.equal(
    explain(found[0], details),
    "The server at https://shop.example/call returned HTML (text/html), not JSON.",
  );
  assert.equal(explain(found[0], null), text);
});

test("the cause of the end comes first, then what happened first", () => {
  const fault = (code) => ({ fault: { code, text: code } });
  const rows = ["not_found", "agent_offline", "media_timeout"].map((code, at) => row(at, "engine", "engine", code, fault(code)));
  assert.deepEqual(faults(timeline(rows, { reason: "media_timeout" })).map((each) => each.code),
    ["media_timeout", "not_found", "agent_offline"]);
});
