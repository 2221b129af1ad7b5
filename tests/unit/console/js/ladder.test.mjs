// The ladder of a call: its steps, spans and faults, from timelines as REST returns them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { buildLadder } from "../../../../api/console/static/ladder/model.js";
import { explain, findFaults } from "../../../../api/console/static/ladder/findings.js";
import { timelineOf } from "../../../../api/console/static/ladder/record.js";
import { moment, talk, timeline, webhookFails } from "./timelines.mjs";

const texts = (ladder) => ladder.steps.map((each) => each.text);

test("legs are lanes, then the engine, then each server", () => {
  const { lanes } = buildLadder(talk());
  assert.deepEqual(lanes.map((each) => [each.heading, each.label]), [
    ["A", "+4799"], ["B", "agent:7"], ["engine", ""], ["server", "shop.example"],
  ]);
});

test("steps say what happens, between which lanes", () => {
  const ladder = buildLadder(talk());
  assert.deepEqual(texts(ladder), [
    "answers the call",
    "answered",
    "webhook https://shop.example/call after start",
    "response: gather “Press one” (200 in 6 ms)",
    "gather “Press one”",
    "say “Press one”",
    "♪ plays the prompt",
    "presses 1",
    "♪ stops",
    "dial agent 7",
    "calls agent:7",
    "answered",
    "bridged: A and B",
    "request: hold B",
    "♪ music on hold",
    "request: unhold B",
    "muted (in)",
    "unmuted",
    "hung up: normal clearing (16)",
    "the bridge ends",
    "hung up: normal clearing (16)",
    "status callback: 204 in 3 ms",
  ]);
  const [, , webhook, response] = ladder.steps;
  assert.deepEqual([webhook.from, webhook.to, webhook.request], ["engine", "web:shop.example", "r0"]);
  assert.deepEqual([response.from, response.to], ["web:shop.example", "engine"]);
  assert.deepEqual(response.attempts.map((each) => each.id), ["1-0"]);
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

test("what is not over yet has no end", () => {
  const live = talk();
  live.moments = live.moments.slice(0, 6);
  live.call = { ...live.call, endedMs: 0 };
  const ladder = buildLadder(live);
  assert.equal(ladder.isLive, true);
  assert.equal(ladder.spans.find((each) => each.kind === "bridge").toMs, null);
});

test("an event or a command that this version does not know adds no step", () => {
  const unknown = timeline([moment(0, { type: "of-tomorrow" }, [{ type: "also-new", leg: "x" }])]);
  assert.deepEqual(texts(buildLadder(unknown)), []);
});

test("a webhook that returns HTML is said first, with what it returned", () => {
  const found = findFaults(webhookFails("not_json: the body is not JSON"));
  assert.equal(found.length, 1);
  assert.deepEqual([found[0].code, found[0].request, found[0].isCause], ["not_json", "r0", true]);
  assert.equal(found[0].text, "The server at https://shop.example/call did not return JSON.");
  const details = { url: "https://shop.example/call", status: 200, responseHeaders: { "Content-Type": "text/html" },
    responseBody: { text: "<html>" } };
  assert.equal(
    explain(found[0], details),
    "The server at https://shop.example/call returned HTML (text/html), not JSON.",
  );
});

test("each way in which a server fails has its words and its code", () => {
  for (const [reason, words, code] of [
    ["timeout", "did not respond in time", "timeout"],
    ["connect: refused", "cannot be reached", "connect"],
    ["status_500", "responded with status 500", "status_nnn"],
    ["invalid_action: action.type: unknown", "returned an action that is not valid: action.type: unknown", "invalid_action"],
    ["redirect: 302", "redirected the request", "redirect"],
    ["gone", "gave no usable response: gone", "gone"],
  ]) {
    const [found] = findFaults(webhookFails(reason));
    assert.ok(found.text.includes(words), found.text);
    assert.equal(found.code, code);
  }
});

test("a phone that is not registered, and a party that does not answer", () => {
  const ended = (more) =>
    findFaults(timeline([
      moment(0, { type: "call-opened" }, [{ type: "originate", leg: "b", party: "agent:7" }]),
      moment(5, { type: "leg-ended", leg: "b", sipCode: 0, reason: "", ...more }),
    ]));
  const dead = ended({ cause: 41, reason: "unavailable" });
  assert.equal(dead[0].text, "The phone of agent 7 is not registered: it is off, or cannot sign in.");
  assert.equal(dead[0].code, "agent_offline");
  assert.equal(ended({ cause: 41 })[0].code, "agent_offline");
  assert.equal(ended({ cause: 17, sipCode: 486 })[0].text, "The phone of agent 7 is busy (SIP 486).");
  assert.equal(ended({ cause: 99 })[0].code, "not_answered");
});

test("a party that the engine itself hangs up is no fault", () => {
  const found = findFaults(timeline([
    moment(0, { type: "call-opened" }, [{ type: "originate", leg: "b", party: "+47" }]),
    moment(5, { type: "hangup-requested", by: "api" }, [{ type: "hangup", leg: "b", cause: 16 }]),
    moment(9, { type: "leg-ended", leg: "b", cause: 16, sipCode: 487, reason: "" }),
  ]));
  assert.deepEqual(found, []);
});

test("an engine that took the call over is named, with the time without one", () => {
  const shown = (event) => texts(buildLadder(timeline([moment(5, { type: "recovered", ...event })])));
  assert.deepEqual(shown({ engine: "pbx2-7", uncontrolledMs: 1_900 }), ["engine pbx2-7 took over, 1.9 s without control"]);
  assert.deepEqual(shown({ engine: "e1", uncertain: ["p0"] }), ["engine e1 took over; a prompt was perhaps not heard"]);
  assert.deepEqual(shown({ engine: "", uncontrolledMs: 0 }), ["the engine is connected again"]);
});

test("a party that did not answer in time rang, or nothing responded", () => {
  const unanswered = (...events) =>
    findFaults(timeline([
      moment(0, { type: "call-opened" }, [{ type: "originate", leg: "b", party: "+47" }]),
      ...events.map((type) => moment(5, { type, leg: "b" })),
      moment(9, { type: "deadline-passed" }, [{ type: "hangup", leg: "b", cause: 19 }]),
      moment(9, { type: "leg-ended", leg: "b", cause: 19, sipCode: 480, reason: "" }),
    ]));
  const text = (...events) => unanswered(...events).map((each) => each.text);
  assert.deepEqual(text("leg-ringing"), ["+47 rang, and did not answer in time."]);
  assert.deepEqual(text(), ["+47 never rang: the server or the network behind it sent no response in time."]);
  assert.deepEqual(text("leg-ringing", "leg-answered"), []);
});

test("a prompt that does not exist is named", () => {
  const source = "https://shop.example/none.wav";
  const [found] = findFaults(timeline([
    moment(5, { type: "media-fetched", faults: ["not_found: HTTP status 404"], failed: [{ source, reason: "not_found" }] }),
  ]));
  assert.equal(found.text, `The prompt at ${source} cannot be fetched: it does not exist there (HTTP status 404).`);
  assert.equal(found.code, "not_found");
});

test("a prompt of which nothing is heard is a step, and no fault", () => {
  const source = "https://shop.example/a.wav";
  const call = timeline([moment(5, { type: "media-fetched", silent: [source] })]);
  assert.deepEqual(texts(buildLadder(call)), [`silent audio: ${source}`]);
  assert.deepEqual(findFaults(call), []);
});

test("values that do not fit a flow's node are named", () => {
  const fault = "nodes.hi.data.text: empty once filled in";
  const node = { type: "say", data: { text: "1" } };
  const call = timeline([moment(5, { type: "flow-node-loaded", name: "hi", node, faults: [fault], isSkipped: true })]);
  assert.deepEqual(texts(buildLadder(call)), [`a value does not fit: ${fault}`, "node hi does not run"]);
  assert.deepEqual(findFaults(call).map((each) => each.text), [`A value in a node of a flow does not fit: ${fault}.`]);
});

test("the reason of a call's end is said if nothing else says it", () => {
  const found = findFaults(timeline([], { reason: "media_timeout" }));
  assert.deepEqual(found.map((each) => each.code), ["media_timeout"]);
});

test("a call record has a ladder of its events", () => {
  const events = [
    { event: "initiated", timestamp: 1_000, channelId: "a" },
    { event: "answered", timestamp: 1_010, channelId: "a" },
    { event: "gathered", timestamp: 1_500, channelId: "a", dtmf: "12" },
    { event: "gathered", timestamp: 1_550, channelId: "a", dtmf: "", speech: "sales", confidence: 0.9, reason: "speech" },
    { event: "gathered", timestamp: 1_560, channelId: "a", dtmf: "", speech: "billing", confidence: 0.2, reason: "no-match" },
    { event: "leg-initiated", timestamp: 1_600, channelId: "b", party: "agent:7" },
    { event: "leg-completed", timestamp: 1_700, channelId: "b", hangupCause: 41, reason: "unavailable" },
    { event: "media-failed", timestamp: 1_750, channelId: "a", source: "https://x/y.wav", reason: "not_found" },
    { event: "completed", timestamp: 1_800, channelId: "a", hangupCause: 16 },
  ];
  const found = timelineOf({ reqId: "c1", from: "+4799", toNumber: "+4721", direction: "inbound", status: "completed",
    startTime: new Date(1_000).toISOString(), endTime: new Date(1_800).toISOString(), legs: [{ channelId: "a" }], timeline: events });
  assert.deepEqual(texts(buildLadder(found)), [
    "answers the call", "answered", "presses 12",
    "understood “sales” (0.90)", "understood “billing” (0.20): no match", "calls agent:7",
    "not called: its phone is not registered, or not known to the PBX",
    "audio is not available: not_found, https://x/y.wav", "hung up: normal clearing (16)",
  ]);
  assert.deepEqual(findFaults(found).map((each) => each.code), ["agent_offline", "not_found"]);
});

test("a bot is a lane; its turns are spans, and its actions are steps", () => {
  const stream = "c.w2";
  const speech = (by, isSpeaking, latencyMs) => ({ type: "stream-speech-changed", stream, by, isSpeaking, heardMs: 0, latencyMs });
  const ladder = buildLadder(timeline([
    moment(0, { type: "call-opened" }, [{ type: "start-stream", stream, data: { url: "wss://bot.example/x?key=1" } }], "streaming"),
    moment(30, { type: "stream-connected", stream, connectMs: 25 }, [], "streaming"),
    moment(500, speech("bot", true, 320), [], "streaming"),
    moment(900, { type: "stream-interrupted", stream, outcome: "paused", heardMs: 400 }, [], "streaming"),
    moment(1_200, speech("bot", false), [], "streaming"),
    moment(1_300, { type: "stream-mark-reached", stream, name: "hello", heardMs: 700 }, [], "streaming"),
    moment(1_400, { type: "digit-pressed", leg: "a", digit: "7" }, [{ type: "send-to-stream", stream, message: { type: "digit", digit: "7" } }], "streaming"),
    moment(1_990, { type: "leg-ended", leg: stream, cause: 16, sipCode: 1011 }, [], "streaming"),
    moment(2_000, { type: "stream-ended", stream, reason: "bot-lost", detail: "1011" }, [], "streaming"),
  ]));
  assert.deepEqual(texts(ladder), [
    "stream to bot.example",
    "bot connected in 25 ms",
    "the bot speaks, 320 ms after the caller",
    "a sound of the caller pauses the bot, after 0.4 s",
    "the bot is silent",
    "mark hello heard",
    "presses 7",
    "digit 7 to the bot",
    "stream ended: bot-lost (1011)",
  ]);
  const spoken = ladder.spans.filter((each) => each.kind === "prompt");
  assert.deepEqual(spoken.map((each) => [each.lane, each.toMs - each.fromMs]), [[stream, 700]]);
  assert.equal(ladder.steps.at(-1).kind, "failure");
});

test("a recognizer is a lane, and a best guess is marked as no match", () => {
  const stream = "c.w2";
  const understood = (text, confidence) => ({ type: "speech-understood", stream, text, confidence, isVoice: true });
  const gathered = (reason) => ({ type: "emit-event", event: { event: "gathered", reason } });
  const ladder = buildLadder(timeline([
    moment(0, { type: "leg-answered", leg: "a" }, [
      { type: "listen", snoop: "c.s1", leg: "a", track: "caller" },
      { type: "start-stream", stream, recognition: { recognizer: "grammar" } },
    ], "gathering"),
    moment(20, { type: "leg-created", leg: stream }, [{ type: "add-to-bridge", bridge: "c.s1b", legs: ["c.s1", stream] }], "gathering"),
    moment(30, { type: "stream-connected", stream, connectMs: 25 }, [], "gathering"),
    moment(900, understood("sales", 0.21), [gathered("no-match")], "gathering"),
    moment(1_900, understood("sales", 0.93), [gathered("speech")], "ending"),
  ]));
  assert.deepEqual(texts(ladder), [
    "answered",
    "listens to A",
    "grammar listens",
    "forked: grammar hears A",
    "recognizer connected",
    "understood “sales” (0.21): no match",
    "understood “sales” (0.93)",
  ]);
  assert.deepEqual(ladder.lanes.map((each) => each.label), ["", "fork of A", "grammar", ""]);
});

test("a recognizer is a lane of its gather; what it understood is a step", () => {
  const stream = "c.w2";
  const data = { url: "wss://recognizer.invalid" };
  const ladder = buildLadder(timeline([
    moment(0, { type: "call-opened" }, [
      { type: "play", leg: "a", playback: "p1" },
      { type: "start-stream", stream, data, recognition: { recognizer: "grammar", start: {} } },
    ], "gathering"),
    moment(30, { type: "stream-connected", stream, connectMs: 25 }, [], "gathering"),
    moment(400, { type: "stream-interrupted", stream, outcome: "paused", heardMs: 0 }, [{ type: "pause-playback", playback: "p1" }], "gathering"),
    moment(600, { type: "stream-interrupted", stream, outcome: "resumed", heardMs: 0 }, [{ type: "resume-playback", playback: "p1" }], "gathering"),
    moment(700, { type: "stream-speech-changed", stream, by: "caller", isSpeaking: true }, [], "gathering"),
    moment(1_300, { type: "stream-speech-changed", stream, by: "caller", isSpeaking: false }, [], "gathering"),
    moment(1_310, { type: "speech-understood", stream, text: "", confidence: 0, isVoice: false }, [], "gathering"),
    moment(2_000, { type: "speech-understood", stream, text: "sales", confidence: 0.934, isVoice: true }, [{ type: "stop-stream", stream }], "awaiting-instructions"),
  ]));
  assert.deepEqual(texts(ladder), [
    "♪ plays the prompt",
    "grammar listens",
    "recognizer connected",
    "a sound of the caller pauses the prompt",
    "♪ pauses",
    "no speech: the prompt goes on",
    "♪ continues",
    "an utterance begins",
    "the utterance is over",
    "no speech, but a noise",
    "understood “sales” (0.93)",
    "recognizer stopped",
  ]);
});

test("a stream in the place of another has its lane", () => {
  const data = { url: "wss://bot.example/x" };
  const start = (stream) => ({ type: "start-stream", stream, data });
  const lost = { type: "stream-ended", stream: "c.w2", reason: "bot-lost" };
  const ladder = buildLadder(timeline([
    moment(0, { type: "call-opened" }, [start("c.w2")], "streaming"),
    moment(500, lost, [{ type: "stop-stream", stream: "c.w2" }, start("c.w3")], "streaming"),
    moment(510, { type: "leg-ended", leg: "c.w2", cause: 16 }, [], "streaming"),
    moment(530, { type: "stream-connected", stream: "c.w3", connectMs: 25 }, [], "streaming"),
    moment(900, { type: "stream-ended", stream: "c.w3", reason: "bot-closed" }, [], "ending"),
  ]));
  assert.equal(ladder.lanes.filter((each) => each.label === "bot.example").length, 1);
  const spans = ladder.spans.filter((each) => each.lane === "c.w2" && each.kind === "leg");
  assert.deepEqual(spans.map((each) => each.toMs - each.fromMs), [500, 400]);
  assert.equal(ladder.steps.at(-1).from, "c.w2");
});
