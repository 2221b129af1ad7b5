// @ts-check
// The lanes of streams: one that takes the place of an ended one has its lane, or each attempt
// to reach a bot would make the ladder wider.

export class StreamLanes {
  constructor() {
    /** @type {Map<string, string>} earlier streams, by those that have taken their places */
    this.places = new Map();
    /** @type {Map<string, string[]>} lanes of ended streams, by their labels */
    this.free = new Map();
    /** @type {Set<string>} */
    this.ended = new Set();
  }

  /**
   * Return the id of a leg's lane.
   * @param {string} id
   */
  of(id) {
    return this.places.get(id) ?? id;
  }

  /**
   * Give a stream the lane of an ended one with the same label, if there is one.
   * @param {string} stream
   * @param {string} label
   */
  begin(stream, label) {
    const lane = this.free.get(label)?.pop();
    if (lane !== undefined) this.places.set(stream, lane);
  }

  /**
   * Free the lane of a stream; false: it has ended before.
   * @param {string} stream
   * @param {string} label
   */
  end(stream, label) {
    if (this.ended.has(stream)) return false;
    this.ended.add(stream);
    this.free.set(label, [...(this.free.get(label) ?? []), this.of(stream)]);
    return true;
  }
}
