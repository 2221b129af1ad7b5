// @ts-check
// What the server does with a call: it is started, transferred, and made a conference.

/**
 * @typedef {import("./server.js").PhoneServer} PhoneServer
 * @typedef {{callId: string, leg: string}} Place a call, and the phone's leg in it
 */

const VOICE = "/srmain/voice";

/**
 * Return the party of what a person types: a number, or an agent's id.
 * @param {string} typed
 */
export function partyOf(typed) {
  const text = typed.trim();
  if (/^(agent:|sips?:)/.test(text)) return text;
  const number = text.replace(/[\s()./-]/g, "");
  return /^\+?[0-9*#]+$/.test(number) ? number : `agent:${text}`;
}

/**
 * Return the call of a leg, whose id begins with it.
 * @param {string} leg
 * @returns {Place}
 */
export function placeOf(leg) {
  return { callId: leg.slice(0, leg.lastIndexOf(".")), leg };
}

export class CallControl {
  /**
   * @param {PhoneServer} server
   * @param {string} agentId
   */
  constructor(server, agentId) {
    this.server = server;
    this.agentId = agentId;
  }

  get isAvailable() {
    return this.server.post !== null && this.server.get !== null;
  }

  /**
   * Start a call; the server rings this phone first. Returns the id of the call.
   * @param {string} party
   * @returns {Promise<string>}
   */
  async dial(party) {
    const { callId } = await this.post("/call", { from: `agent:${this.agentId}`, to: party });
    return callId;
  }

  /**
   * @param {Place} place
   * @param {string} party
   * @param {"attended" | "blind"} mode
   * @returns {Promise<string>} the id of the transfer
   */
  async transfer({ callId, leg }, party, mode) {
    const { transferSessionId } = await this.post(`/call/${callId}/transfer/init`, {
      transferMode: mode,
      sourceAgentId: this.agentId,
      sourceChannelId: leg,
      customerChannelId: await this.customerOf(callId, leg),
      target: targetOf(party),
    });
    return transferSessionId;
  }

  /**
   * @param {Place} place
   * @param {string} transfer
   */
  async complete({ callId }, transfer) {
    await this.post("/transfer/complete", {
      callId,
      transferSessionId: transfer,
      completedByAgentId: this.agentId,
      reason: "manual_complete",
    });
  }

  /**
   * @param {Place} place
   * @param {string} transfer
   */
  async cancel({ callId }, transfer) {
    await this.post("/transfer/cancel", {
      callId,
      transferSessionId: transfer,
      cancelledByAgentId: this.agentId,
      reason: "source_cancel",
    });
  }

  /**
   * Return why a transfer is over without success, in words; "" while it goes on.
   * @param {Place} place
   * @param {string} transfer
   */
  async failureOf({ callId }, transfer) {
    const { transfers = [] } = await this.read(callId);
    const found = transfers.find((/** @type {any} */ each) => each.transferSessionId === transfer);
    return found?.state === "failed" ? failureText(found) : "";
  }

  /**
   * Add a party to the call, in which all then talk.
   * @param {Place} place
   * @param {string} party
   */
  async add({ callId, leg }, party) {
    const agent = party.startsWith("agent:") ? party.slice("agent:".length) : "";
    await this.post("/conference/add-members", {
      callId,
      requestedByAgentId: this.agentId,
      sourceAgentId: this.agentId,
      sourceChannelId: leg,
      customerChannelId: await this.customerOf(callId, leg),
      ...(agent ? { targetAgentIds: [agent] } : { targetExternalNumber: party }),
    });
  }

  /**
   * Put the other party on hold: the server plays music to it, and shows it in the call. Returns its
   * leg; "" if there are several parties, of whom the phone takes leave by a hold of its own.
   * @param {Place} place
   * @returns {Promise<string>}
   */
  async hold({ callId, leg }) {
    const others = await this.others(callId, leg);
    const [channelId = ""] = others.length === 1 ? others.map((each) => each.channelId) : [];
    if (channelId) await this.post(`/call/${callId}/hold`, { channelId });
    return channelId;
  }

  /**
   * @param {Place} place
   * @param {string} channelId the leg on hold
   */
  async resume({ callId }, channelId) {
    if (await this.isHeld({ callId, leg: "" }, channelId)) await this.post(`/call/${callId}/unhold`, { channelId });
  }

  /**
   * Return whether a leg is on hold: somebody else may have taken it off.
   * @param {Place} place
   * @param {string} channelId
   */
  async isHeld({ callId }, channelId) {
    const { legs } = await this.read(callId);
    return legs.some((/** @type {any} */ each) => each.channelId === channelId && each.held);
  }

  /**
   * Return whether the party that the call dials has not answered yet.
   * @param {Place} place
   */
  async isDialling({ callId }) {
    return ["starting", "dialing"].includes((await this.read(callId)).state);
  }

  /**
   * Return the other party's leg.
   * @param {string} callId
   * @param {string} leg
   * @returns {Promise<string>}
   */
  async customerOf(callId, leg) {
    const [other] = await this.others(callId, leg);
    if (other === undefined) throw new Error("There is no other party yet.");
    return other.channelId;
  }

  /**
   * Return the legs of the other parties that are connected.
   * @param {string} callId
   * @param {string} leg
   * @returns {Promise<{channelId: string}[]>}
   */
  async others(callId, leg) {
    const { legs } = await this.read(callId);
    return legs.filter((/** @type {any} */ each) => each.channelId !== leg && each.state === "up");
  }

  /** @param {string} callId */
  async read(callId) {
    const { get } = this.server;
    if (get === null) throw new Error("This page cannot control calls.");
    return await get(`${VOICE}/call-details/${callId}`);
  }

  /**
   * @param {string} path
   * @param {unknown} body
   */
  async post(path, body) {
    const { post } = this.server;
    if (post === null) throw new Error("This page cannot control calls.");
    return await post(VOICE + path, body);
  }
}

/** @type {Record<string, string>} */
const FAILURES = {
  target_busy: "is busy",
  target_hangup: "hung up",
  target_reject: "rejected the call",
  target_unavailable: "is not available",
  target_no_answer: "did not answer",
};

/**
 * @param {{target: string, reason?: string}} transfer that failed
 */
export function failureText({ target, reason = "" }) {
  return `${target} ${FAILURES[reason] ?? `was not reached (${reason || "no reason is known"})`}. You talk to the caller again.`;
}

/** @param {string} party */
function targetOf(party) {
  if (!party.startsWith("agent:")) return { kind: "number", number: party };
  const agentId = party.slice("agent:".length);
  return { kind: "agent", agentId, agentName: agentId };
}
