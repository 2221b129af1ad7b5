// @ts-check
// What a ladder shows: lanes, steps in their order, and spans on lanes. Made of a timeline, whose
// rows are in words already, and which may grow; pure.

/**
 * @typedef {"plain" | "success" | "failure" | "digit" | "sound" | "web" | "faint" | "break"} Kind
 * @typedef {"leg" | "bridge" | "hold" | "mute" | "prompt" | "verb" | "recording" | "request"} SpanKind
 * @typedef {{id: string, heading: string, label: string, kind: "leg" | "stream" | "engine" | "server"}} Lane
 * @typedef {{text: string, code: string}} Fault `code` has a page below /docs/errors
 * @typedef {{
 *   index: number, atMs: number, text: string, kind: Kind, from: string, to: string,
 *   joined: string[], details: any, request: string, attempts: any[], fault: Fault | null,
 * }} Step (from = to: a mark on a lane; `joined`: lanes that are bridged)
 * @typedef {{lane: string, kind: SpanKind, text: string, fromMs: number, toMs: number | null,
 *   from: number, to: number}} Span (from and to: the steps at its ends)
 * @typedef {{text: string, code: string, request: string, atMs: number, index: number,
 *   isCause: boolean}} Finding (`request`: whose attempts show more; `index`: of its step)
 * @typedef {{lanes: Lane[], steps: Step[], spans: Span[], startMs: number, endMs: number,
 *   isLive: boolean, omitted: number}} Ladder
 */

/** @type {Record<string, number>} the order of lanes */
const RANKS = { leg: 0, stream: 0, engine: 1, server: 2 };

/** The timeline of a call that goes on, and its ladder: each read adds what is new since the last. */
export class GrowingLadder {
  /** @param {any} timeline of `GET /srmain/voice/call/{id}/timeline`: a whole one */
  constructor(timeline) {
    this.timeline = timeline;
    this.build();
  }

  /** The cursor of the next read; empty if it must be of the whole timeline. */
  get next() {
    return this.timeline.next;
  }

  /**
   * Add what is new. Its cost grows with that, not with the length of the call; but attempts change
   * old steps.
   * @param {any} part the response of a request with `after`
   */
  add(part) {
    const { call, next, rows, attempts } = part;
    const before = this.timeline;
    const isLater = !rows.length || rows[0].atMs >= (before.rows.at(-1)?.atMs ?? 0);
    for (const each of rows) before.rows.push(each);
    const lifelines = [...new Map([...before.lifelines, ...part.lifelines].map((each) => [each.id, each])).values()];
    this.timeline = { ...before, call, next, lifelines, attempts: [...before.attempts, ...attempts] };
    const hasEnded = Boolean(call.endedMs) !== Boolean(before.call.endedMs);
    if (!rows.length && !attempts.length && !hasEnded) return;
    if (!isLater) before.rows.sort((/** @type {any} */ a, /** @type {any} */ b) => a.atMs - b.atMs);
    if (attempts.length || !isLater) {
      this.build();
    } else {
      this.addRows(rows);
      this.finish();
    }
  }

  build() {
    /** @type {Step[]} */
    this.steps = [];
    /** @type {Span[]} */
    this.spans = [];
    /** @type {Map<string, Span>} by lane and kind */
    this.open = new Map();
    /** @type {Map<string, any[]>} by request, but for those that were repeated by hand */
    this.attempts = new Map();
    for (const each of this.timeline.attempts) {
      if (!each.retryOf) this.attempts.set(each.requestId, [...(this.attempts.get(each.requestId) ?? []), each]);
    }
    this.addRows(this.timeline.rows);
    this.finish();
  }

  /** @param {any[]} rows that follow the earlier ones */
  addRows(rows) {
    for (const row of rows) {
      if (row.text) this.steps.push(this.stepOf(row));
      const index = Math.max(0, this.steps.length - 1);
      for (const { lifeline: lane, kind } of row.ends ?? []) {
        const span = this.open.get(`${lane} ${kind}`);
        if (span) Object.assign(span, { toMs: row.atMs, to: Math.max(span.from, index) });
        this.open.delete(`${lane} ${kind}`);
      }
      for (const { lifeline: lane, kind, text = "" } of row.begins ?? []) {
        const span = { lane, kind, text, fromMs: row.atMs, toMs: null, from: index, to: -1 };
        this.spans.push(span);
        this.open.set(`${lane} ${kind}`, span);
      }
    }
  }

  /**
   * @param {any} row
   * @returns {Step}
   */
  stepOf(row) {
    const { atMs, from, to, text, kind = "plain", joined = [], request = "", attempt = "", fault = null, details = null } = row;
    const attempts = attempt
      ? this.timeline.attempts.filter((/** @type {any} */ each) => each.id === attempt)
      : (this.attempts.get(request) ?? []);
    const isSent = from !== to && to.startsWith("web:");
    const note = isSent && attempts.some((/** @type {any} */ each) => each.toListener) ? " (to a listener)" : "";
    return { index: this.steps.length, atMs, text: text + note, kind, from, to, joined, details, request, attempts, fault };
  }

  /** Make the ladder of what was added. */
  finish() {
    const { call, rows, omitted } = this.timeline;
    const endMs = Math.max(call.endedMs || 0, rows.at(-1)?.atMs ?? 0, call.createdMs);
    for (const span of this.open.values()) {
      span.to = this.steps.length - 1;
      if (call.endedMs) span.toMs = endMs;
    }
    const lanes = this.timeline.lifelines.map((/** @type {any} */ each) => ({ label: "", ...each }));
    /** @type {Ladder} */
    this.ladder = {
      lanes: lanes.sort((/** @type {Lane} */ a, /** @type {Lane} */ b) => (RANKS[a.kind] ?? 0) - (RANKS[b.kind] ?? 0)),
      steps: this.steps,
      spans: this.spans,
      startMs: call.createdMs,
      endMs,
      isLive: !call.endedMs,
      omitted,
    };
  }
}

/**
 * Build the ladder of a whole timeline.
 * @param {any} timeline
 */
export function buildLadder(timeline) {
  return new GrowingLadder(timeline).ladder;
}

/**
 * Return what went wrong: the cause of the call's end first.
 * @param {any} call
 * @param {Step[]} steps
 * @returns {Finding[]}
 */
export function findFaults(call, steps) {
  const reason = String(call.reason ?? "");
  /** @type {Finding[]} */
  const found = [];
  for (const { fault, request, atMs, index } of steps) {
    if (!fault) continue;
    const isCause = fault.code === reason || (request !== "" && reason.startsWith("action_failed"));
    found.push({ ...fault, request, atMs, index, isCause });
  }
  return found.sort((a, b) => Number(b.isCause) - Number(a.isCause) || a.atMs - b.atMs);
}

/**
 * Say what a server sent instead of an action; `details` is the attempt with its response.
 * @param {Finding} finding
 * @param {any} details
 */
export function explain(finding, details) {
  if (finding.code !== "not_json" || !details) return finding.text;
  const entries = Object.entries(details.responseHeaders ?? {});
  const type = entries.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
  const kind = /html/i.test(String(type)) || /^\s*</.test(details.responseBody?.text ?? "") ? "HTML" : "text";
  const status = details.status && details.status !== 200 ? `, status ${details.status}` : "";
  return `The server at ${details.url} returned ${kind}${type ? ` (${type})` : ""}${status}, not JSON.`;
}
