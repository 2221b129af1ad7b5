// What became of a call, in the words of all pages.

import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf, outcomeOf, reasonText } from "../../../../api/console/static/lib/outcome.js";

test("an answered call in which something went wrong is not green", () => {
  const call = { status: "completed", answerStatus: "answered", reason: null };
  assert.deepEqual(outcomeOf(call), { text: "answered", kind: "good" });
  assert.equal(outcomeOf({ ...call, reason: "action_failed:not_json" }).kind, "warn");
  assert.equal(outcomeOf({ ...call, mediaFault: { source: "x", reason: "not_found" } }).kind, "warn");
  assert.deepEqual(outcomeOf({ status: "completed", answerStatus: "missed" }), { text: "missed", kind: "warn" });
});

test("each fault leads to the page of its code", () => {
  const pages = (call) => faultsOf(call).map(({ text, code }) => [text, code]);
  assert.deepEqual(pages({ reason: "action_failed:not_json" }), [["webhook or flow failed", "not_json"]]);
  assert.deepEqual(pages({ reason: "action_failed:status_500" }), [["webhook or flow failed", "status_nnn"]]);
  assert.deepEqual(pages({ reason: "action_failed:<b>" }), [["webhook or flow failed", "action_failed"]]);
  assert.deepEqual(pages({ mediaFault: { source: "x", reason: "not_found" } }), [["prompt missing", "not_found"]]);
  assert.deepEqual(pages({ reason: "time_limit" }), []);
  assert.deepEqual(pages({ reason: null }), []);
});

test("statuses have words", () => {
  assert.equal(outcomeOf({ status: "no-answer" }).text, "no answer");
  assert.deepEqual(outcomeOf({ status: "failed" }), { text: "failed", kind: "bad" });
});

test("a reason is said in words, with what the server said", () => {
  assert.equal(reasonText("action_failed:status_500"), "webhook or flow failed (status_500)");
  assert.equal(reasonText("unallocated_number"), "no such number");
  assert.equal(reasonText("manual_complete"), "manual_complete");
});
