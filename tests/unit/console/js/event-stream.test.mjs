// The events of an account: how their text is read, and where a stream continues.

import assert from "node:assert/strict";
import { test } from "node:test";

import { EventParser } from "../../../../api/console/static/lib/event-parser.js";
import { ResumedStream } from "../../../../api/console/static/lib/resumed-stream.js";

const REFUSED = 400;

/** Read texts that a server sends in turn; return the types of events, and where each began. */
async function read(...texts) {
  const places = [];
  const types = [];
  const open = async (headers) => {
    places.push(headers["Last-Event-ID"]);
    const text = texts.shift();
    if (text === REFUSED) throw Object.assign(new Error("refused"), { status: REFUSED });
    return new Response(text);
  };
  const follow = (state) => {
    if (state === "lost" && texts.length === 0) stream.close();
  };
  const stream = new ResumedStream(open, ({ type }) => types.push(type), follow, 0);
  await stream.run();
  return { places, types };
}

test("text is read in pieces of any size", () => {
  const text = 'id: 1\nevent: answered\ndata: {"a":1}\n\n:\n\nid: 2\ndata: x\r\ndata: y\r\n\r\n';
  for (let size = 1; size < text.length; size += 1) {
    const events = [];
    const parser = new EventParser((each) => events.push(each));
    for (let at = 0; at < text.length; at += size) parser.feed(text.slice(at, at + size));
    assert.deepEqual(events, [
      { id: "1", type: "answered", data: '{"a":1}' },
      { id: "2", type: "message", data: "x\ny" },
    ]);
  }
});

test("an event without an id leaves the place as it is, also in the next connection", async () => {
  const { places, types } = await read("id: 7\ndata: {}\n\n", "event: lost\ndata: {}\n\n", "");
  assert.deepEqual(places, [undefined, "7", "7"]);
  assert.deepEqual(types, ["message", "lost"]);
});

test("a place that the server does not know is given up, and what was missed is lost", async () => {
  const { places, types } = await read("id: 7\ndata: {}\n\n", REFUSED, "id: 9\ndata: {}\n\n");
  assert.deepEqual(places, [undefined, "7", undefined]);
  assert.deepEqual(types, ["message", "lost", "message"]);
});
