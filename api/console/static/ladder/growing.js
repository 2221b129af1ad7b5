// @ts-check
// The timeline of a call that goes on, and its ladder: each read adds what is new since the last.

import { LadderBuilder } from "./model.js";

/** Its cost grows with what is new, not with the length of the call; but attempts change old steps. */
export class GrowingLadder {
  /** @param {any} timeline a whole one */
  constructor(timeline) {
    this.timeline = timeline;
    this.builder = new LadderBuilder(timeline);
    this.ladder = this.builder.ladder(timeline);
  }

  /** The cursor of the next read; empty if it must be of the whole timeline. */
  get next() {
    return this.timeline.next ?? "";
  }

  /**
   * Add what is new.
   * @param {any} part the response of a request with `after`
   */
  add(part) {
    const { call, next, moments, attempts } = part;
    const before = this.timeline;
    for (const each of moments) before.moments.push(each);
    this.timeline = { ...before, call, next, attempts: attempts.length ? [...before.attempts, ...attempts] : before.attempts };
    const hasEnded = Boolean(call.endedMs) !== Boolean(before.call.endedMs);
    if (!moments.length && !attempts.length && !hasEnded) return;
    const isLater = !moments.length || moments[0].atMs >= this.builder.state.atMs;
    if (attempts.length || !isLater) this.builder = new LadderBuilder(this.timeline);
    else this.builder.add(moments);
    this.ladder = this.builder.ladder(this.timeline);
  }
}
