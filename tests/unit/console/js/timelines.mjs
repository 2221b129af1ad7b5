// Timelines for tests, as `GET /srmain/voice/call/{id}/timeline` returns them.

export const START_MS = 1_000;
const ENGINE = { id: "engine", kind: "engine", heading: "engine" };
const A = { id: "a", kind: "leg", heading: "A", label: "+4799" };
const B = { id: "b", kind: "leg", heading: "B", label: "agent:7" };
const SERVER = { id: "web:shop.example", kind: "server", heading: "server", label: "shop.example" };

export const span = (lifeline, kind, text = kind) => ({ lifeline, kind, text });

export function row(atMs, from, to, text, more = {}) {
  return { atMs: START_MS + atMs, from, to, text, ...more };
}

export function timeline(rows, call = {}, attempts = [], lifelines = [ENGINE, A, B, SERVER]) {
  return {
    call: { callId: "c1", from: "+4799", to: "+4721", direction: "inbound", status: "completed", state: "ended",
      createdMs: START_MS, answeredMs: START_MS + 1, endedMs: START_MS + 6_000, mainChannelId: "a", ...call },
    lifelines,
    rows,
    attempts,
    omitted: 0,
    next: "",
  };
}

export const ATTEMPT = { id: "1-0", atMs: START_MS + 4, kind: "action", requestId: "r0", attempt: 1, method: "POST",
  url: "https://shop.example/call", status: 200, tookMs: 6, outcome: "succeeded" };
const SENT = row(3, "engine", SERVER.id, "webhook https://shop.example/call after start", { kind: "web", request: "r0" });
const ANSWERS = row(0, "engine", "a", "answers the call", { begins: [span("a", "leg")] });

export function webhookFails(reason, text) {
  const fault = { code: reason, text };
  return timeline(
    [
      ANSWERS,
      SENT,
      row(10, SERVER.id, "engine", `no usable response: ${reason}`, { kind: "failure", request: "r0", fault }),
      row(12, "a", "engine", "hung up: normal clearing (16)", { ends: [span("a", "leg")] }),
    ],
    { status: "failed", reason: `action_failed:${reason}` },
    [{ ...ATTEMPT, outcome: "failed", reason }],
  );
}

/** A call with a menu, a conversation, a hold, a mute and a status callback. */
export function talk() {
  const bridged = [span("a", "bridge"), span("b", "bridge")];
  return timeline(
    [
      ANSWERS,
      SENT,
      row(10, SERVER.id, "engine", "response in 6 ms: gather “Press one”", { kind: "web", request: "r0", details: { type: "action-received" } }),
      row(10, "engine", "engine", "gather “Press one”", { kind: "success", begins: [span("engine", "verb", "gather")] }),
      row(50, "engine", "a", "♪ plays 1.0 s", { kind: "sound", begins: [span("a", "prompt")] }),
      row(400, "a", "engine", "presses 1", { kind: "digit" }),
      row(400, "engine", "a", "♪ stops", { kind: "faint", ends: [span("a", "prompt")] }),
      row(400, "engine", "engine", "dial agent 7", { begins: [span("engine", "verb", "dial")], ends: [span("engine", "verb")] }),
      row(400, "engine", "b", "calls agent:7", { begins: [span("b", "leg")] }),
      row(900, "a", "a", "bridged: A and B", { joined: ["a", "b"], begins: bridged }),
      row(1_500, "b", "b", "request: hold B", { begins: [span("b", "hold")] }),
      row(2_000, "b", "b", "", { ends: [span("b", "hold")] }),
      row(2_100, "engine", "a", "muted (inbound)", { begins: [span("a", "mute")] }),
      row(2_200, "engine", "a", "unmuted (inbound)", { ends: [span("a", "mute")] }),
      row(5_000, "a", "engine", "hung up: normal clearing (16)", { ends: [span("a", "leg"), span("engine", "verb"), ...bridged] }),
      row(5_050, "b", "engine", "hung up: normal clearing (16)", { ends: [span("b", "leg")] }),
      row(5_900, "engine", SERVER.id, "status callback e9: 204 in 3 ms", { kind: "faint", request: "c1.e9", attempt: "2-0" }),
    ],
    {},
    [ATTEMPT, { ...ATTEMPT, id: "2-0", kind: "callback", requestId: "c1.e9", status: 204, tookMs: 3, atMs: START_MS + 5_900 }],
  );
}

/** A call with many steps. */
export function long(steps) {
  const rows = [ANSWERS];
  for (let index = 0; rows.length < steps; index += 1) {
    rows.push(row(index * 400, "a", "engine", `presses ${index % 10}`, { kind: "digit" }));
  }
  return timeline(rows, { endedMs: START_MS + steps * 400 });
}
