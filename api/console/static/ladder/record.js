// @ts-check
// A timeline made of a call record, for a call whose own timeline is no longer kept.

/**
 * @param {any} record of `GET /srmain/cdr/{id}`
 */
export function timelineOf(record) {
  const events = record.timeline ?? [];
  const main = record.legs?.[0]?.channelId ?? "";
  /** @type {Map<string, string>} of the bot of each stream */
  const hosts = new Map((record.streams ?? []).map((/** @type {any} */ each) => [each.streamId, each.host]));
  return {
    call: {
      callId: record.reqId,
      direction: record.direction,
      from: record.from,
      to: record.toNumber,
      status: record.status,
      state: "ended",
      reason: record.reason ?? "",
      hangupCause: record.hangupCause ?? 0,
      endedBy: record.endedBy ?? "",
      mainChannelId: main,
      createdMs: Date.parse(record.startTime),
      answeredMs: record.answerTime ? Date.parse(record.answerTime) : 0,
      endedMs: Date.parse(record.endTime),
      legs: [],
    },
    moments: events.map((/** @type {any} */ each) => moment(each, hosts)),
    attempts: [],
    omitted: 0,
  };
}

/**
 * @param {any} event of the record's timeline
 * @param {Map<string, string>} hosts
 */
function moment(event, hosts) {
  const leg = event.channelId;
  const { types, commands } = event.event === "stream" ? translateStream(event, hosts) : translate(event, leg);
  return {
    atMs: event.timestamp,
    event: { leg, ...types },
    commands,
    state: event.callStatus === "in-progress" ? "recorded" : "",
  };
}

/**
 * @param {any} event
 * @param {string} leg
 * @returns {{types: any, commands: any[]}}
 */
function translate(event, leg) {
  switch (event.event) {
    case "initiated":
      return { types: { type: "call-opened" }, commands: leg ? [{ type: "answer", leg }] : [] };
    case "ringing":
    case "leg-ringing":
      return { types: { type: "leg-ringing" }, commands: [] };
    case "answered":
    case "leg-answered":
      return { types: { type: "leg-answered" }, commands: [] };
    case "leg-initiated":
      return { types: { type: "recorded" }, commands: [{ type: "originate", leg, party: event.party ?? "" }] };
    case "leg-completed": {
      const { hangupCause = 0, sipCode = 0, reason = "" } = event;
      return { types: { type: "leg-ended", cause: hangupCause, sipCode, reason }, commands: [] };
    }
    case "leg-held":
    case "leg-unheld":
      return { types: { type: "hold-requested", held: event.event === "leg-held" }, commands: [] };
    case "leg-muted":
    case "leg-unmuted":
      return {
        types: { type: "recorded" },
        commands: [{ type: event.event === "leg-muted" ? "mute" : "unmute", leg, direction: event.muted ?? "" }],
      };
    case "gathered":
      if (event.speech !== undefined) {
        const { speech: text, confidence } = event;
        return { types: { type: "speech-recorded", text, confidence, isVoice: true }, commands: [{ type: "emit-event", event }] };
      }
      return { types: { type: "digit-pressed", digit: event.dtmf || "no digits" }, commands: [] };
    case "media-failed": {
      const { source, reason = "" } = event;
      return { types: { type: "media-fetched", faults: [reason], failed: [{ source, reason }] }, commands: [] };
    }
    case "completed":
      return { types: { type: "leg-ended", cause: event.hangupCause ?? 0, sipCode: 0, reason: "" }, commands: [] };
    default:
      return { types: { type: "recorded" }, commands: [{ type: "emit-event", event }] };
  }
}

/**
 * @param {any} event of a stream; one that never started has no session
 * @param {Map<string, string>} hosts
 * @returns {{types: any, commands: any[]}}
 */
function translateStream(event, hosts) {
  const { sessionId: stream, sessionState, reason = "" } = event;
  if (!stream) return { types: { type: "recorded" }, commands: [] };
  switch (sessionState) {
    case "started":
    case "resumed": {
      const host = hosts.get(stream);
      return { types: { type: "recorded" }, commands: [{ type: "start-stream", stream, data: host && { url: `wss://${host}/` } }] };
    }
    case "connected":
      return { types: { type: "stream-connected", stream }, commands: [] };
    default: // lost, ended
      return { types: { type: "stream-ended", stream, reason }, commands: [] };
  }
}
