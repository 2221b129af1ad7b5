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

// Before its first event it has no place to continue at: what was missed is lost.
test("a stream that is suspended has no connection, and continues after its last event", async () => {
  const places = [];
  const states = [];
  let connections = 0;
  const open = async (headers, signal) => {
    places.push(headers["Last-Event-ID"]);
    connections += 1;
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(`id: ${places.length}\ndata: {}\n\n`));
        signal.addEventListener("abort", () => ((connections -= 1), controller.error(signal.reason)));
      },
    });
    return new Response(body);
  };
  const seen = [];
  let onSeen = () => {};
  const arrived = () => new Promise((resolve) => (onSeen = resolve));
  const take = ({ type, id }) => (seen.push(id || type), id && onSeen());
  const stream = new ResumedStream(open, take, (each) => states.push(each), 0);
  stream.suspend();
  const running = stream.run();
  assert.equal(places.length, 0, "it begins when it is resumed");
  let next = arrived();
  stream.resume();
  await next;
  stream.suspend();
  assert.equal(connections, 0);
  next = arrived();
  stream.resume();
  await next;
  assert.deepEqual([places, seen], [[undefined, "1"], ["lost", "1", "2"]]);
  stream.suspend();
  next = arrived();
  stream.resume(true);
  await next;
  assert.deepEqual([places[2], seen.slice(3)], [undefined, ["lost", "3"]], "after a long time it reads no past");
  stream.suspend();
  stream.close();
  await running;
  assert.equal(connections, 0);
  assert(!states.includes("lost"), "what is suspended is not lost");
});
