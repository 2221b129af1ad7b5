// @ts-check
// What can be done to a call now: by its state, and by the scopes of who is signed in.

const CALLS = "/srmain/voice";

/**
 * @typedef {{call: any, agentId: string, may: (scope: string) => boolean}} Situation
 */

/**
 * Return the legs that may be controlled: an agent's own, or all.
 * @param {Situation} situation
 */
export function controllableLegs({ call, agentId, may }) {
  const legs = call.legs ?? [];
  return may("calls") ? legs : legs.filter((/** @type {any} */ leg) => leg.agent_id === agentId);
}

/**
 * Return which controls of the call are possible.
 * @param {Situation} situation
 */
export function possible({ call, agentId, may }) {
  const isLive = !call.endedMs && !["ending", "archiving-recordings"].includes(call.state);
  const own = may("calls:own") && controllableLegs({ call, agentId, may }).length > 0;
  const isAnswered = Boolean(call.answeredMs);
  const running = (call.recordings ?? []).find(
    (/** @type {any} */ each) => each.purpose === "call" && ["running", "paused"].includes(each.state),
  );
  const isTalking = call.state === "bridged";
  const members = conferenceOf(call)?.members.filter((/** @type {any} */ each) => !each.leftMs) ?? [];
  return {
    hangUp: isLive && (may("calls") || own),
    hangUpLeg: isLive,
    hold: isLive && isAnswered,
    mute: isLive && isAnswered,
    dial: isLive && isTalking && own,
    transfer: isLive && isTalking && own && !transferOf(call) && !members.length,
    conference: isLive && isTalking && own && !transferOf(call),
    coach: isLive && own && members.length > 2,
    startRecording: isLive && isAnswered && may("calls") && !running,
    pauseRecording: isLive && own && running?.state === "running",
    resumeRecording: isLive && own && running?.state === "paused",
    stopRecording: isLive && may("calls") && Boolean(running),
    completeTransfer: isLive && own && transferOf(call)?.state === "answered",
    cancelTransfer: isLive && own && Boolean(transferOf(call)),
  };
}

const OVER = new Set(["completed", "canceled", "failed", "abandoned", "blind_transferred"]);

/**
 * Return the transfer that is in progress.
 * @param {any} call
 */
export function transferOf(call) {
  return (call.transfers ?? []).find((/** @type {any} */ each) => !OVER.has(each.state));
}

/**
 * Return the conference that is in progress.
 * @param {any} call
 */
export function conferenceOf(call) {
  return (call.conferences ?? []).find((/** @type {any} */ each) => !OVER.has(each.state));
}

/**
 * Return whether a leg coaches in the conference, and else which leg it could: null if none.
 * @param {any} call
 * @param {string} channelId
 * @returns {{isCoaching: boolean, coached: string} | null}
 */
export function coachingOf(call, channelId) {
  const members = conferenceOf(call)?.members.filter((/** @type {any} */ each) => !each.leftMs) ?? [];
  const member = members.find((/** @type {any} */ each) => each.channelId === channelId);
  if (member === undefined) return null;
  if (member.coaches) return { isCoaching: true, coached: "" };
  const agent = members.find((/** @type {any} */ each) => each !== member && each.agent_id);
  return agent ? { isCoaching: false, coached: agent.channelId } : null;
}

/**
 * Return the leg of an agent, and the one that the other party is on, for a transfer or a
 * conference: null if it is not clear which they are.
 * @param {Situation} situation
 */
export function sourceAndCustomer({ call, agentId, may }) {
  const legs = call.legs ?? [];
  const own = controllableLegs({ call, agentId, may });
  const source = own.find((/** @type {any} */ leg) => leg.agent_id) ?? null;
  const customer = legs.find((/** @type {any} */ leg) => leg !== source && !leg.agent_id) ?? legs.find((/** @type {any} */ leg) => leg !== source);
  return source && customer ? { source, customer } : null;
}

/**
 * Return the target of a transfer or a conference: an agent (agent:ID) or a number.
 * @param {string} text
 */
export function targetOf(text) {
  const agent = /^agent:(.+)$/.exec(text.trim())?.[1];
  return agent ? { kind: "agent", agentId: agent } : { kind: "number", number: text.trim() };
}

/** @param {string} callId */
export function callPath(callId) {
  return `${CALLS}/call/${encodeURIComponent(callId)}`;
}
