// @ts-check
// One call of the phone: its state, its audio, and what a person does with it.

import { LevelMeter } from "./level-meter.js";
import { qualityOf, readReport } from "./quality.js";

const MEASURED_EVERY_MS = 2_000;
const LEG_HEADER = "X-Switchroom-Leg";
const KEY_MS = 160;
const GATHERED_AFTER_MS = 200; // without a further candidate: a STUN server that is away takes long

/**
 * @typedef {"ringing" | "calling" | "talking" | "ended"} CallState
 */

/** Why a call ended, by the library's cause. */
/** @type {Record<string, string>} */
const CAUSES = {
  Terminated: "The call has ended.",
  Canceled: "The caller has hung up, or it was answered elsewhere.",
  Rejected: "The call was rejected.",
  Busy: "Busy.",
  Unavailable: "Not available.",
  "Not Found": "There is no such number here.",
  "No Answer": "No answer.",
  "Request Timeout": "The phone server does not respond.",
  "Connection Error": "The connection to the phone server is lost.",
  "WebRTC Error": "The browser and the phone server find no way for the audio.",
  "RTP Timeout": "No audio arrives: a firewall may drop it.",
  "User Denied Media Access": "The browser may not use the microphone.",
  "Bad Media Description": "The phone server offers no codec of this browser.",
  "Incompatible SDP": "The phone server offers no codec of this browser.",
};

export class PhoneCall {
  /**
   * @param {any} event of the library: a call that begins
   * @param {() => AudioContext} context
   * @param {HTMLAudioElement} speaker
   * @param {() => void} onChange
   */
  constructor({ session, request }, context, speaker, onChange) {
    this.session = session;
    this.context = context;
    this.speaker = speaker;
    this.onChange = onChange;
    this.isIncoming = session.direction === "incoming";
    /** The phone's leg in the server's call; empty if it is none of the server's. */
    this.leg = this.isIncoming ? `${request.getHeader(LEG_HEADER) ?? ""}` : "";
    const { remote_identity: remote } = session;
    this.peer = remote.display_name || remote.uri.user || "anonymous";
    /** @type {CallState} */
    this.state = this.isIncoming ? "ringing" : "calling";
    this.isDialling = false; // the phone's call is answered, but the party that it calls is not
    this.endText = "";
    this.startedAtMs = 0;
    this.isMuted = false;
    this.isHeld = false;
    this.heldLeg = ""; // of the other party, which the server has put on hold for this phone
    this.keys = "";
    /** @type {import("./quality.js").Quality | null} */
    this.quality = null;
    /** @type {MediaStream | null} */
    this.microphone = null;
    /** @type {LevelMeter | null} */
    this.inputMeter = null;
    /** @type {LevelMeter | null} */
    this.outputMeter = null;
    this.measureTimer = 0;
    this.gatherTimer = 0;
    /** @type {import("./quality.js").Report | null} */
    this.report = null;
    this.follow();
  }

  /** What happens, in words. */
  get text() {
    if (this.state !== "talking") return "Connecting…";
    if (this.isHeld) return "On hold";
    return this.isDialling ? "Ringing…" : "Connected";
  }

  follow() {
    const { session } = this;
    session.on("accepted", () => this.change("talking"));
    session.on("confirmed", () => this.change("talking"));
    session.on("ended", (/** @type {any} */ event) => this.end(event.cause));
    session.on("failed", (/** @type {any} */ event) => this.end(event.cause));
    session.on("hold", () => this.update());
    session.on("unhold", () => this.update());
    session.on("muted", () => this.update());
    session.on("unmuted", () => this.update());
    session.on("icecandidate", (/** @type {any} */ { ready }) => {
      window.clearTimeout(this.gatherTimer);
      this.gatherTimer = window.setTimeout(ready, GATHERED_AFTER_MS);
    });
    if (session.connection) this.connect(session.connection);
    session.on("peerconnection", (/** @type {any} */ event) => this.connect(event.peerconnection));
  }

  /** @param {RTCPeerConnection} connection */
  connect(connection) {
    connection.addEventListener("track", ({ track, streams }) => {
      const stream = streams[0] ?? new MediaStream([track]);
      this.speaker.srcObject = stream;
      void this.speaker.play().catch(() => {}); // without a gesture, the next click plays it
      this.outputMeter?.close();
      this.outputMeter = new LevelMeter(this.context(), stream);
    });
  }

  /**
   * @param {MediaStream} microphone
   * @param {RTCIceServer[]} iceServers
   */
  answer(microphone, iceServers) {
    this.microphone = microphone;
    this.inputMeter = new LevelMeter(this.context(), microphone);
    this.session.answer({ mediaStream: microphone, pcConfig: { iceServers } });
  }

  /** Reject a call that rings, or hang up. */
  hangUp() {
    if (this.session.isEnded()) return;
    const options = this.state === "ringing" ? { status_code: 603, reason_phrase: "Decline" } : {};
    this.session.terminate(options);
  }

  /** Stop: the call is rejected in another tab. */
  stopRinging() {
    if (this.state === "ringing") this.hangUp();
  }

  /** @param {boolean} isMuted */
  mute(isMuted) {
    if (isMuted) this.session.mute({ audio: true });
    else this.session.unmute({ audio: true });
  }

  /** @param {boolean} isHeld */
  hold(isHeld) {
    if (isHeld) this.session.hold();
    else this.session.unhold();
  }

  /** @param {string} leg of the other party that the server has put on hold; "" when it is back */
  holdLeg(leg) {
    this.heldLeg = leg;
    this.update();
  }

  /** @param {string} key */
  press(key) {
    this.session.sendDTMF(key, { transportType: "RFC2833", duration: KEY_MS });
    this.keys += key;
    this.onChange();
  }

  /**
   * Speak through another microphone.
   * @param {MediaStream} microphone
   */
  async replaceMicrophone(microphone) {
    const [track] = microphone.getAudioTracks();
    if (track === undefined) return;
    track.enabled = !this.isMuted && !this.isHeld;
    /** @type {RTCPeerConnection} */
    const connection = this.session.connection;
    await connection.getSenders().find((each) => each.track?.kind === "audio")?.replaceTrack(track);
    this.closeMicrophone();
    this.microphone = microphone;
    this.inputMeter = new LevelMeter(this.context(), microphone);
  }

  /** Tell the PBX that the phone has another connection: so it can end the call, too. */
  refresh() {
    if (this.state === "talking" && this.session.isReadyToReOffer()) this.session.renegotiate();
  }

  /** @param {CallState} state */
  change(state) {
    if (this.state === state) return;
    this.state = state;
    if (state === "talking") {
      this.startedAtMs = Date.now();
      this.measureTimer = window.setInterval(() => void this.measure(), MEASURED_EVERY_MS);
    }
    this.onChange();
  }

  update() {
    this.isMuted = this.session.isMuted().audio;
    this.isHeld = this.heldLeg !== "" || this.session.isOnHold().local;
    this.onChange();
  }

  async measure() {
    if (!this.session.connection || this.state !== "talking") return;
    const report = await readReport(this.session.connection);
    if (this.report !== null) this.quality = qualityOf(this.report, report);
    this.report = report;
    this.onChange();
  }

  /** @param {string} cause */
  end(cause) {
    window.clearInterval(this.measureTimer);
    this.endText = CAUSES[cause] ?? `The call has ended (${cause}).`;
    this.outputMeter?.close();
    this.closeMicrophone();
    this.speaker.srcObject = null;
    this.change("ended");
  }

  closeMicrophone() {
    this.inputMeter?.close();
    this.inputMeter = null;
    this.microphone?.getTracks().forEach((track) => track.stop());
    this.microphone = null;
  }
}
