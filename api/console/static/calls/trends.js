// @ts-check
// What the charts of live calls show: a value for each minute, from records and live calls.

const MINUTE_MS = 60_000;

/**
 * @typedef {{id: string, createdMs: number, endedMs: number, isAnswered: boolean,
 *   waitedMs: number}} EndedCall
 * @typedef {{times: number[], live: (number | null)[], answerRate: (number | null)[],
 *   waitS: (number | null)[]}} Series
 */

export class Trends {
  /** @param {number} spanMs for which ended calls are remembered */
  constructor(spanMs) {
    this.spanMs = spanMs;
    /** @type {Map<string, EndedCall>} */
    this.ended = new Map();
    this.sinceMs = 0; // earlier calls are not known
  }

  /** @param {EndedCall} call */
  add(call) {
    this.ended.set(call.id, call);
  }

  /**
   * Return a value for each of the latest minutes; null where nothing is known.
   * @param {number} nowMs
   * @param {number} minutes
   * @param {number[]} liveSinceMs when each live call began
   * @returns {Series}
   */
  series(nowMs, minutes, liveSinceMs) {
    this.forget(nowMs);
    const startMs = Math.ceil(nowMs / MINUTE_MS) * MINUTE_MS - minutes * MINUTE_MS;
    const found = Array.from({ length: minutes }, (_, index) => ({
      fromMs: startMs + index * MINUTE_MS,
      live: 0,
      ended: 0,
      answered: 0,
      waitedMs: 0,
    }));
    const at = (/** @type {number} */ ms) => Math.floor((ms - startMs) / MINUTE_MS);
    const addLive = (/** @type {number} */ fromMs, /** @type {number} */ toMs) => {
      for (const each of found.slice(Math.max(0, at(fromMs)), Math.max(0, at(toMs) + 1))) each.live += 1;
    };
    for (const fromMs of liveSinceMs) addLive(fromMs, nowMs);
    for (const call of this.ended.values()) {
      addLive(call.createdMs, call.endedMs);
      const bucket = found[at(call.endedMs)];
      if (!bucket) continue;
      bucket.ended += 1;
      bucket.answered += call.isAnswered ? 1 : 0;
      bucket.waitedMs += call.waitedMs;
    }
    return {
      times: found.map((each) => each.fromMs / 1_000),
      live: found.map((each) => (each.fromMs + MINUTE_MS > this.sinceMs ? each.live : null)),
      answerRate: found.map((each) => (each.ended ? (100 * each.answered) / each.ended : null)),
      waitS: found.map((each) => (each.ended ? each.waitedMs / each.ended / 1_000 : null)),
    };
  }

  /**
   * Return the figures of all minutes together.
   * @param {number} nowMs
   * @param {number} minutes
   */
  totals(nowMs, minutes) {
    const calls = [...this.ended.values()].filter((each) => each.endedMs > nowMs - minutes * MINUTE_MS);
    const answered = calls.filter((each) => each.isAnswered).length;
    const waitedMs = calls.reduce((sum, each) => sum + each.waitedMs, 0);
    return {
      ended: calls.length,
      answerRate: calls.length ? (100 * answered) / calls.length : null,
      waitS: calls.length ? waitedMs / calls.length / 1_000 : null,
    };
  }

  /** @param {number} nowMs */
  forget(nowMs) {
    for (const [id, call] of this.ended) {
      if (call.endedMs < nowMs - this.spanMs) this.ended.delete(id);
    }
  }
}

/**
 * Read a row of `GET /srmain/cdr`.
 * @param {any} row
 * @returns {EndedCall}
 */
export function fromCdr(row) {
  return {
    id: row.reqId,
    createdMs: Date.parse(row.startTime),
    endedMs: Date.parse(row.endTime),
    isAnswered: row.answerStatus === "answered",
    waitedMs: (row.ringMs ?? 0) + (row.waitMs ?? 0),
  };
}

/**
 * Read the record of a `completed` event.
 * @param {any} event
 * @returns {EndedCall}
 */
export function fromCompleted({ callId, record, timestamp }) {
  return {
    id: callId,
    createdMs: record.createdMs,
    endedMs: record.endedMs ?? timestamp,
    isAnswered: isAnswered(record),
    waitedMs: (record.ringMs ?? 0) + (record.waitMs ?? 0),
  };
}

/**
 * Return whether a person answered, as call records say it (docs/cdrs.md).
 * @param {any} record
 */
function isAnswered(record) {
  if (record.status === "failed" || !record.answeredMs) return false;
  if (record.direction !== "inbound") return true;
  const called = record.legs.filter((/** @type {any} */ leg) => leg.party !== record.from);
  if (called.length) return called.some((/** @type {any} */ leg) => leg.talkMs + leg.holdMs > 0);
  return (record.recordings ?? []).every((/** @type {any} */ each) => each.purpose !== "voicemail");
}
