// What the phone says of a transfer that has failed, and which leg it puts on hold.

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

function controlWith(legs) {
  const posted = [];
  const server = {
    createCredentials: async () => null,
    get: async () => ({ legs }),
    post: async (path, body) => posted.push([path, body]),
  };
  return { control: new CallControl(server, "ada"), posted };
}

test("the only other party is put on hold by the server, and taken off once", async () => {
  const legs = [{ channelId: "c.l0", state: "up" }, { channelId: "a", state: "up" }, { channelId: "b", state: "ringing" }];
  const { control, posted } = controlWith(legs);
  assert.equal(await control.hold(PLACE), "a");
  assert.deepEqual(posted, [["/srmain/voice/call/c/hold", { channelId: "a" }]]);
  await control.resume(PLACE, "a"); // somebody else has taken it off
  assert.equal(posted.length, 1);
  legs[1].held = true;
  await control.resume(PLACE, "a");
  assert.deepEqual(posted[1], ["/srmain/voice/call/c/unhold", { channelId: "a" }]);
});

test("of several parties none is put on hold", async () => {
  const { control, posted } = controlWith([{ channelId: "a", state: "up" }, { channelId: "b", state: "up" }]);
  assert.equal(await control.hold(PLACE), "");
  assert.deepEqual(posted, []);
});
