// What the phone says of a transfer that has failed.

import assert from "node:assert/strict";
import { test } from "node:test";

import { CallControl } from "../../../../api/console/static/phone/call-control.js";

const PLACE = { callId: "c", leg: "c.l0" };

function controlOf(transfers) {
  const server = { createCredentials: async () => null, get: async () => ({ transfers }), post: null };
  return new CallControl(server, "ada");
}

test("a consultation whose target is busy is over, and says so", async () => {
  const failed = { transferSessionId: "t", state: "failed", target: "+4733", reason: "target_busy" };
  assert.equal(await controlOf([failed]).failureOf(PLACE, "t"), "+4733 is busy. You talk to the caller again.");
  const other = { ...failed, reason: "target_lost" };
  assert.match(await controlOf([other]).failureOf(PLACE, "t"), /not reached \(target_lost\)/);
});

test("one that goes on, and one of another id, say nothing", async () => {
  for (const state of ["ringback", "answered", "completed", "canceled"]) {
    assert.equal(await controlOf([{ transferSessionId: "t", state, target: "+4733" }]).failureOf(PLACE, "t"), "");
  }
  assert.equal(await controlOf([]).failureOf(PLACE, "t"), "");
});
