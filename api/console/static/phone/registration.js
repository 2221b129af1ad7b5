// @ts-check
// The phone's login at a PBX: credentials are renewed, and a lost connection is made again.

import { UA, WebSocketInterface } from "../vendored/jssip.js";

const REGISTERED_S = 90; // a tab that dies is forgotten after that
const RENEWED_BEFORE_MS = 60_000; // or at half of a shorter life
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
const FORMER_MS = 1_000; // after that it is seen whether calls of former logins have ended
const LOST = "The connection to the phone server is lost; trying again.";
const SILENT_MS = 8_000; // a PBX that does not respond to REGISTER for so long is away

/**
 * @typedef {import("./server.js").PhoneServer} PhoneServer
 * @typedef {import("./server.js").Credentials} Credentials
 * @typedef {"off" | "connecting" | "ready" | "lost"} LoginState
 */

export class Registration {
  /**
   * @param {PhoneServer} server
   * @param {(state: LoginState, text: string) => void} onState
   * @param {(event: any) => void} onSession a call that begins
   */
  constructor(server, onState, onSession) {
    this.server = server;
    this.onState = onState;
    this.onSession = onSession;
    /** @type {Credentials | null} */
    this.credentials = null;
    /** @type {any} the library's user agent that logs in */
    this.agent = null;
    /** @type {any[]} those before it, which stay until it is logged in and no call is left */
    this.former = [];
    this.isWanted = false;
    this.isReady = false;
    this.pauseMs = FIRST_PAUSE_MS;
    this.retryTimer = 0;
    this.renewTimer = 0;
    this.formerTimer = 0;
    this.watchTimer = 0;
    this.firstUrl = 0;
    /** The addresses that this tab has reached. @type {Set<string>} */
    this.reached = new Set();
  }

  /** Log in, and stay so until `stop()`. */
  async start() {
    this.isWanted = true;
    this.onState("connecting", "Connecting…");
    await this.connect();
  }

  /** Log out; calls go on until they end. */
  stop() {
    this.isWanted = false;
    this.clearTimers();
    window.clearTimeout(this.formerTimer);
    this.close();
    this.onState("off", "You are offline.");
  }

  /** Whether the phone must stay as it is, because it has a call. */
  hasCall = () => false;

  async connect() {
    this.clearTimers();
    try {
      this.credentials = await this.server.createCredentials();
    } catch (error) {
      this.retry(`No credentials: ${error instanceof Error ? error.message : error}`);
      return;
    }
    if (!this.isWanted) return;
    this.open(this.credentials);
    const lifeMs = Date.parse(this.credentials.expiryTime) - Date.now();
    const inMs = Math.max(lifeMs / 2, lifeMs - RENEWED_BEFORE_MS);
    this.renewTimer = window.setTimeout(() => void this.connect(), inMs);
  }

  /**
   * Log in with these credentials. A login before it ends when this one stands: calls that arrive
   * meanwhile are not lost.
   * @param {Credentials} credentials
   */
  open(credentials) {
    if (this.agent !== null) this.former.push(this.agent);
    const urls = rotated(credentials.urls, this.firstUrl);
    const agent = new UA({
      sockets: urls.map((url, index) => ({
        socket: new WebSocketInterface(url),
        weight: urls.length - index,
      })),
      uri: credentials.uri,
      authorization_user: credentials.username,
      password: credentials.password,
      register_expires: REGISTERED_S,
      session_timers: false,
      connection_recovery_min_interval: 1,
      connection_recovery_max_interval: 15,
      user_agent: "Switchroom browser phone",
    });
    const isCurrent = () => this.agent === agent;
    agent.on("registered", () => {
      if (isCurrent()) this.succeed();
    });
    agent.on("registrationFailed", (/** @type {any} */ event) => {
      if (isCurrent()) this.fail(event.cause);
    });
    agent.on("disconnected", (/** @type {any} */ { socket }) => {
      if (isCurrent()) this.lose(this.reached.has(socket.url) ? LOST : unreachable(socket.url));
    });
    agent.on("connected", (/** @type {any} */ { socket }) => {
      this.reached.add(socket.url);
      if (isCurrent()) this.watch();
    });
    agent.on("newRTCSession", (/** @type {any} */ event) => this.onSession(event));
    this.agent = agent;
    agent.start();
    this.watch();
  }

  succeed() {
    window.clearTimeout(this.watchTimer);
    window.clearTimeout(this.retryTimer);
    this.retryTimer = 0;
    this.pauseMs = FIRST_PAUSE_MS;
    this.isReady = true;
    this.onState("ready", "Ready for calls.");
    this.endFormer();
  }

  /** @param {string} cause */
  fail(cause) {
    this.lose(`The phone server refuses the login (${cause}); trying again.`);
  }

  /**
   * Log in again, with other credentials: the old ones may have ended meanwhile.
   * @param {string} text
   */
  lose(text) {
    this.isReady = false;
    if (!this.isWanted) return;
    this.firstUrl += 1;
    this.retry(text);
  }

  /** @param {string} text */
  retry(text) {
    if (!this.isWanted) return;
    this.onState("lost", text);
    if (this.retryTimer) return;
    this.retryTimer = window.setTimeout(() => {
      this.retryTimer = 0;
      if (this.isReady) return; // the library has connected by itself
      if (this.hasCall()) this.retry(text); // a call's dialog is the library's
      else void this.connect();
    }, this.pauseMs);
    this.pauseMs = Math.min(2 * this.pauseMs, LONGEST_PAUSE_MS);
  }

  /** Treat a server that does not respond as lost. */
  watch() {
    window.clearTimeout(this.watchTimer);
    this.watchTimer = window.setTimeout(() => {
      if (!this.isReady) this.lose("The phone server does not respond; trying again.");
    }, SILENT_MS);
  }

  /** End former logins; a call of theirs comes first. */
  endFormer() {
    window.clearTimeout(this.formerTimer);
    if (!this.former.length) return;
    if (this.hasCall()) {
      this.formerTimer = window.setTimeout(() => this.endFormer(), FORMER_MS);
      return;
    }
    this.former.forEach(end);
    this.former = [];
  }

  close() {
    const agents = [...this.former, ...(this.agent === null ? [] : [this.agent])];
    this.agent = null;
    this.former = [];
    this.isReady = false;
    agents.forEach(end);
  }

  clearTimers() {
    window.clearTimeout(this.retryTimer);
    window.clearTimeout(this.renewTimer);
    window.clearTimeout(this.watchTimer);
    this.retryTimer = 0;
  }
}

/**
 * Return what may be wrong with an address that was never reached: a browser does not say it to pages.
 * @param {string} url
 */
function unreachable(url) {
  const { protocol, host } = new URL(url);
  const cause = protocol === "wss:" ? "It is away, or the browser does not trust its certificate." : "It is away.";
  return `No connection to the phone server at ${host}; trying again. ${cause}`;
}

/** @param {any} agent of the library */
function end(agent) {
  agent.removeAllListeners();
  agent.stop();
}

/**
 * @param {string[]} urls
 * @param {number} first
 */
function rotated(urls, first) {
  const begin = first % urls.length;
  return [...urls.slice(begin), ...urls.slice(0, begin)];
}
