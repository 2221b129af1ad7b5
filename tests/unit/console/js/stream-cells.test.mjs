// The bots of a call, as its record has them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { streamCells } from "../../../../api/console/static/calls/stream-cells.js";

const TALKED = { streamId: "c.w2", protocol: "twilio", host: "bot.example", startedMs: 1_000, endedMs: 85_000, reason: "bot-closed" };

test("a conversation has its turns with their latency", () => {
  const cells = streamCells({ ...TALKED, turns: 9, bargeIns: 2, resumes: 1, medianLatencyMs: 640, maxLatencyMs: 1_180 });
  assert.deepEqual(cells, {
    bot: "bot.example (twilio)", length: "1:24", turns: "9", latency: "640 ms, at most 1180 ms",
    interruptions: "2", ended: "bot-closed, resumed once", kind: "",
  });
});

test("a fork has no turns, and a lost bot is marked", () => {
  const cells = streamCells({ ...TALKED, fork: true, resumes: 5, reason: "unreachable" });
  assert.deepEqual([cells.bot, cells.latency, cells.ended, cells.kind],
    ["bot.example (fork, twilio)", "", "unreachable, resumed 5 times", "bad"]);
});
