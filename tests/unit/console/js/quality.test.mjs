// The codec and the quality of a call's network.

import assert from "node:assert/strict";
import { test } from "node:test";
import { qualityOf, readReport } from "../../../../api/console/static/phone/quality.js";

const RECEIVED = { type: "inbound-rtp", kind: "audio", packetsReceived: 100, packetsLost: 2, jitter: 0.004, codecId: "c" };
const PAIR = { type: "candidate-pair", nominated: true, currentRoundTripTime: 0.03 };

/**
 * Return what a connection reports.
 * @param {Record<string, any>} stats
 */
async function read(stats) {
  const connection = { getStats: async () => new Map(Object.entries(stats)) };
  return await readReport(/** @type {any} */ (connection));
}

test("a report has the codec of the audio that arrives, wherever it is in the list", async () => {
  const codec = { type: "codec", mimeType: "audio/opus" };
  const other = { type: "codec", mimeType: "audio/telephone-event" };
  const report = { packets: 100, lost: 2, jitterMs: 4, rttMs: 30, codec: "Opus" };
  assert.deepEqual(await read({ other, a: RECEIVED, b: PAIR, c: codec }), report);
  assert.deepEqual(await read({ c: codec, b: PAIR, a: RECEIVED, other }), report);
});

test("codecs have the names that people use; others keep theirs", async () => {
  for (const [mimeType, name] of [
    ["audio/PCMU", "G.711 µ-law"],
    ["audio/PCMA", "G.711 A-law"],
    ["audio/G722", "G.722"],
    ["audio/AMR", "AMR"],
  ]) {
    assert.equal((await read({ a: RECEIVED, c: { type: "codec", mimeType } })).codec, name);
  }
});

test("before any audio there is no codec", async () => {
  assert.equal((await read({ b: PAIR })).codec, "");
  assert.equal((await read({ a: { ...RECEIVED, codecId: undefined } })).codec, "");
});

test("the quality is of what was lost since the report before", () => {
  const before = { packets: 100, lost: 50, jitterMs: 90, rttMs: 500, codec: "Opus" };
  const good = qualityOf(before, { packets: 200, lost: 50, jitterMs: 2, rttMs: 20, codec: "Opus" });
  assert.deepEqual([good.lossPct, good.text], [0, "good"]);
  const poor = qualityOf(before, { packets: 180, lost: 70, jitterMs: 2, rttMs: 20, codec: "Opus" });
  assert.deepEqual([poor.lossPct, poor.text], [20, "poor"]);
});
