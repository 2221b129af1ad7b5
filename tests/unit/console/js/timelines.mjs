// Timelines for tests, as `GET /srmain/voice/call/{id}/timeline` returns them.

const START_MS = 1_000;

export function moment(atMs, event, commands = [], state = "playing", started = undefined) {
  return { atMs: START_MS + atMs, event, commands, state, ...(started ? { started } : {}) };
}

export function timeline(moments, call = {}, attempts = []) {
  return {
    call: { callId: "c1", from: "+4799", to: "+4721", direction: "inbound", status: "completed", state: "ended",
      createdMs: START_MS, answeredMs: START_MS + 1, endedMs: START_MS + 6_000, mainChannelId: "a", ...call },
    moments,
    attempts,
    omitted: 0,
  };
}

const WEBHOOK = { type: "send-webhook", request: "r0", url: "https://shop.example/call", body: { event: "start" } };
const ATTEMPT = { id: "1-0", atMs: START_MS + 4, kind: "action", requestId: "r0", attempt: 1, method: "POST",
  url: "https://shop.example/call", status: 200, tookMs: 6, outcome: "succeeded" };

export function webhookFails(reason) {
  return timeline(
    [
      moment(0, { type: "call-opened" }, [{ type: "answer", leg: "a" }]),
      moment(3, { type: "leg-answered", leg: "a" }, [WEBHOOK], "awaiting-instructions"),
      moment(10, { type: "action-failed", request: "r0", reason, tries: [[6, 200]] }, [{ type: "hangup", leg: "a", cause: 127 }], "ending"),
      moment(12, { type: "leg-ended", leg: "a", cause: 16, sipCode: 0, reason: "" }, [], "ended"),
    ],
    { status: "failed", reason: `action_failed:${reason}` },
    [{ ...ATTEMPT, outcome: "failed", reason: reason.split(":")[0] }],
  );
}

/** A call with a menu, a conversation, a hold, a mute and a status callback. */
export function talk() {
  const gather = { type: "gather", data: { text: "Press one", maxDigits: 1 } };
  const dial = { type: "dial", data: { agent_id: "7" } };
  return timeline(
    [
      moment(0, { type: "call-opened" }, [{ type: "answer", leg: "a" }], "starting"),
      moment(3, { type: "leg-answered", leg: "a" }, [WEBHOOK], "awaiting-instructions"),
      moment(10, { type: "action-received", request: "r0", action: gather, tries: [[6, 200]] },
        [{ type: "fetch-media", sources: [{ type: "speech", text: "Press one" }] }], "gathering", gather),
      moment(50, { type: "media-fetched", faults: [], failed: [] }, [{ type: "play", leg: "a", playback: "p1" }], "gathering"),
      moment(400, { type: "digit-pressed", leg: "a", digit: "1", missed: false },
        [{ type: "stop-playback", playback: "p1" }, { type: "originate", leg: "b", party: "agent:7" }], "dialing", dial),
      moment(900, { type: "leg-answered", leg: "b" }, [{ type: "add-to-bridge", bridge: "b1", legs: ["a", "b"] }], "bridged"),
      moment(1_500, { type: "hold-requested", leg: "b", held: true }, [{ type: "start-hold-music", leg: "b" }], "bridged"),
      moment(2_000, { type: "hold-requested", leg: "b", held: false }, [], "bridged"),
      moment(2_100, { type: "clock" }, [{ type: "mute", leg: "a", direction: "in" }], "bridged"),
      moment(2_200, { type: "clock" }, [{ type: "unmute", leg: "a", direction: "in" }], "bridged"),
      moment(5_000, { type: "leg-ended", leg: "a", cause: 16, sipCode: 0, reason: "" }, [{ type: "destroy-bridge", bridge: "b1" }], "ending"),
      moment(5_050, { type: "leg-ended", leg: "b", cause: 16, sipCode: 0, reason: "" }, [], "ended"),
    ],
    {},
    [ATTEMPT, { ...ATTEMPT, id: "2-0", kind: "callback", requestId: "c1.e9", status: 204, tookMs: 3, atMs: START_MS + 5_900 }],
  );
}

/** A call with many steps. */
export function long(steps) {
  const moments = [moment(0, { type: "call-opened" }, [{ type: "answer", leg: "a" }])];
  for (let index = 0; moments.length < steps; index += 1) {
    moments.push(moment(index * 400, { type: "digit-pressed", leg: "a", digit: String(index % 10), missed: false }));
  }
  return timeline(moments, { endedMs: START_MS + steps * 400 });
}
