// A number's route as a form has it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { describeRoute, fromForm, toForm } from "../../../../api/console/static/flows/route.js";

const ROUTES = [
  { flowId: "support", recordCall: true, allowListeners: true, answer: false, labels: { line: "a=b" }, customData: { tier: [1, null], id: 1234567890123456789n } },
  { action: "https://example.com/call", recordCall: false, answer: true },
  { action: { type: "dial", data: { number: "agent:anna" } }, recordCall: false, answer: true },
  { action: { type: "dial", data: { number: "agent:anna" }, timeout: 9 }, recordCall: false, answer: true },
  {
    action: { type: "say", data: { text: "<b>Hi</b>" } },
    fallback: { type: "hangup" },
    recordCall: false,
    answer: true,
    statusCallbackUrl: "https://example.com/status",
  },
];

test("a route that is not changed is put as it was", () => {
  for (const route of ROUTES) assert.deepEqual(fromForm(toForm(route)), { route, errors: [] });
});

test("a tree that only dials an agent is one for the agent", () => {
  assert.deepEqual(ROUTES.map((each) => describeRoute(each).kind), ["flow", "webhook", "agent", "tree", "tree"]);
  assert.deepEqual(describeRoute({}), { kind: "tree", name: "" });
  assert.equal(describeRoute({ action: { type: "dial", data: null } }).kind, "tree");
});

test("recording may be an object", () => {
  assert.equal(toForm({ flowId: "a", recordCall: { enable: true } }).recordCall, true);
  assert.equal(toForm({ flowId: "a", recordCall: { enable: false } }).recordCall, false);
});

test("what is no JSON and no label is said of its field", () => {
  const form = { ...toForm({ action: { type: "say" } }), tree: "{", fallback: "]", labels: ["x"] };
  assert.deepEqual(fromForm(form).errors.map((each) => each.path), ["action", "fallback", "labels"]);
});
