// The client: what it sends, how it repeats, and what errors say. SWITCHROOM_API_URL names a real
// server for the last test.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ApiError,
  ConnectionFailed,
  InvalidField,
  say,
  Switchroom,
  SwitchroomError,
} from "switchroom-sdk";

interface Sent {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: unknown;
}

/** Return a client whose requests get these responses in turn, what it sent, and its delays. */
function client(...responses: (Response | Error)[]) {
  const sent: Sent[] = [];
  const delays: number[] = [];
  const respond = async (url: string | URL | Request, init: RequestInit = {}) => {
    const body: unknown = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
    const headers = init.headers as Record<string, string>;
    sent.push({ url: String(url), method: init.method ?? "", headers, body });
    const next = responses.shift();
    if (next === undefined || next instanceof Error) {
      throw next ?? new Error("one request too many");
    }
    return next;
  };
  const switchroom = new Switchroom({
    baseUrl: "https://voice.example/",
    apiKey: "key",
    publicUrl: "https://example.com",
    fetch: respond as typeof fetch,
    sleep: async (ms) => void delays.push(ms),
  });
  return { switchroom, sent, delays };
}

function problem(status: number, body: object, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers });
}

test("a recording is downloaded from the client's own server, wherever its address is", async () => {
  const path = "acme/2026-11-26/3-pbx1-7f3a.v1.wav";
  const addresses = [
    `https://voice.example/srmain/recordings/files/${path}`,
    `https://elsewhere.example/${path}`,
    `file:///var/lib/recordings/${path}`,
    `/srmain/recordings/files/${path}`,
    `/media/recordings/${path}?expires=1&signature=x`,
  ];
  for (const address of addresses) {
    const { switchroom, sent } = client(new Response(new Uint8Array([82, 73, 70, 70])));
    assert.deepEqual([...(await switchroom.recordings.download(address))], [82, 73, 70, 70]);
    assert.equal(sent[0]?.url, `https://voice.example/srmain/recordings/files/${path}`);
  }
  const { switchroom, sent } = client(problem(404, { code: "not_found", detail: "no such recording" }));
  await assert.rejects(switchroom.recordings.download(addresses[0] ?? ""), ApiError);
  await assert.rejects(switchroom.recordings.download("message.wav"), SwitchroomError);
  await assert.rejects(switchroom.recordings.download("https://voice.example/../../x"), SwitchroomError);
  assert.equal(sent.length, 1);
});

test("a call is created with a chain and an idempotency key", async () => {
  const { switchroom, sent } = client(Response.json({ callId: "c1", reqId: "c1" }, { status: 201 }));
  const action = say("Press one.").gather({ action: "/menu" });
  const created = await switchroom.calls.create({ from: "+1", to: "+2", action, customData: { action: "/as it is" } });
  assert.equal(created.callId, "c1");
  const [request] = sent;
  assert.ok(request);
  assert.equal(request.url, "https://voice.example/srmain/voice/call");
  assert.equal(request.headers["Authorization"], "key");
  assert.match(request.headers["Idempotency-Key"] ?? "", /^[0-9a-f-]{36}$/);
  assert.deepEqual(request.body, {
    from: "+1",
    to: "+2",
    action: {
      type: "say",
      data: { text: "Press one." },
      action: { type: "gather", data: {}, action: "https://example.com/menu" },
    },
    customData: { action: "/as it is" },
  });
});

test("your own data is sent as it is", async () => {
  const own = { action: "/a", fallback: "/f", data: { audioUrl: ["/b"] }, list: [{ onError: "/e" }] };
  const tree = { type: "stream", data: { url: "wss://x.example", parameters: { action: "/a", whisper: "/w" } } };
  const bodies: object[] = [
    { customData: own, contact: own, labels: own },
    { url: "/x", json: own, answers: own, headers: own, form: own },
    { action: tree, fallback: tree },
    tree,
    { start: "n", nodes: { n: tree, action: { type: "set", variables: own } } },
    { data: own, list: [own], constructor: "/c" },
  ];
  for (const body of bodies) {
    const { switchroom, sent } = client(new Response(null, { status: 204 }));
    await switchroom.request("PUT", "/x", { body });
    assert.deepEqual(sent[0]?.body, body);
  }
  const { switchroom, sent } = client(new Response(null, { status: 204 }));
  const at = new Date(0);
  await switchroom.request("PUT", "/x", { body: { customData: { at }, json: { at } } });
  assert.deepEqual(sent[0]?.body, { customData: { at: at.toJSON() }, json: { at: at.toJSON() } });
});

test("each address in a body is resolved", async () => {
  const verb = (address: string) => ({
    type: "dial",
    data: { audioUrl: [address], confirm: { audioUrl: address }, whisper: { type: "hangup", action: address } },
    action: { type: "gather", data: { fallback: { type: "hangup", action: address } }, onError: address },
  });
  const bodies = (address: string) => [
    { action: address, fallback: verb(address), machineDetection: { onMachine: address } },
    { action: verb(address), machineDetection: { onMachine: verb(address) } },
    verb(address),
    { start: "n", nodes: { n: { type: "dial", data: verb(address).data } } },
  ];
  const expected = bodies("https://example.com/x");
  for (const [index, body] of bodies("/x").entries()) {
    const { switchroom, sent } = client(new Response(null, { status: 204 }));
    await switchroom.request("PUT", "/x", { body });
    assert.deepEqual(sent[0]?.body, expected[index]);
  }
});

test("an error has the code and the field", async () => {
  const errors = [{ path: "to", message: "a number is expected", code: "" }];
  const { switchroom } = client(
    problem(400, { code: "invalid", detail: "to: …", errors }, { "x-request-id": "id" }),
  );
  await assert.rejects(switchroom.calls.create({ from: "+1", to: "x" }), (error: unknown) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.status, error.code, error.field, error.requestId], [400, "invalid", "to", "id"]);
    assert.equal(error.message, "400 invalid: to: a number is expected");
    return true;
  });
});

test("a busy server gets the request again with the same key", async () => {
  const { switchroom, sent, delays } = client(
    problem(503, { code: "no_node" }, { "retry-after": "2" }),
    new TypeError("fetch failed"),
    Response.json({ callId: "c1", reqId: "c1" }),
  );
  await switchroom.calls.create({ from: "+1", to: "+2" });
  assert.deepEqual(delays, [2000, 1000]);
  assert.equal(new Set(sent.map((each) => each.headers["Idempotency-Key"])).size, 1);
});

test("what may have happened is not repeated", async () => {
  const { switchroom } = client(new TypeError("fetch failed"));
  await assert.rejects(switchroom.calls.hangup("c1"), ConnectionFailed);
  const { switchroom: other } = client(problem(503, {}));
  await assert.rejects(other.calls.mute("c1", { channelId: "c1.l0" }), ApiError);
});

test("lists follow offsets and cursors", async () => {
  const page = (ids: string[], more: object) => Response.json({ data: ids.map((agentId) => ({ agentId })), ...more });
  const { switchroom, sent } = client(
    page(["a", "b"], { total: 3, limit: 2, offset: 0 }),
    page(["c"], { total: 3, limit: 2, offset: 2 }),
  );
  const found: string[] = [];
  for await (const each of switchroom.agents.list({ limit: 2 })) {
    found.push(each.agentId);
  }
  assert.deepEqual(found, ["a", "b", "c"]);
  assert.deepEqual(sent.map((each) => new URL(each.url).search), ["?limit=2", "?limit=2&offset=2"]);

  const { switchroom: other, sent: requests } = client(
    page(["a"], { nextCursor: "n1" }),
    page(["b"], { nextCursor: null }),
  );
  for await (const each of other.records.list({ limit: 1 }).pages()) {
    assert.equal(each.data.length, 1);
  }
  assert.match(requests[1]?.url ?? "", /cursor=n1/);
});

test("parts of a path are escaped", async () => {
  const { switchroom, sent } = client(new Response(null, { status: 204 }));
  await switchroom.numbers.deleteRoute("+47/../x");
  assert.equal(sent[0]?.url, "https://voice.example/srmain/voice/numbers/%2B47%2F..%2Fx/route");
  for (const id of ["", ".", ".."]) {
    await assert.rejects(switchroom.calls.get(id), InvalidField);
    await assert.rejects(switchroom.calls.get(id), /is no id/);
  }
});

test("a problem of a gateway may have another form", async () => {
  for (const errors of ["x", ["x"], [null], { a: 1 }, 5]) {
    const { switchroom } = client(problem(400, { errors }));
    await assert.rejects(switchroom.request("GET", "/numbers"), (error) => {
      assert.ok(error instanceof ApiError);
      assert.deepEqual([error.status, error.errors.length], [400, 0]);
      return true;
    });
  }
});

test("a token is got with account and secret, and replaced when it has expired", async () => {
  const responses = [
    Response.json({ accessToken: "t1" }),
    Response.json({ id: "acme" }),
    problem(401, {}),
    Response.json({ accessToken: "t2" }),
    Response.json({ id: "acme" }),
  ];
  const seen: string[] = [];
  const respond = async (_url: unknown, init: RequestInit = {}) => {
    seen.push((init.headers as Record<string, string>)["Authorization"] ?? "none");
    return responses.shift() ?? problem(500, {});
  };
  const switchroom = new Switchroom({
    apiKey: "key",
    account: "acme",
    apiSecret: "secret",
    fetch: respond as unknown as typeof fetch,
  });
  await switchroom.account.get();
  await switchroom.account.get();
  assert.deepEqual(seen, ["none", "t1", "t1", "none", "t2"]);
});

test("a real server", { skip: !process.env["SWITCHROOM_API_URL"] && "no server" }, async () => {
  const switchroom = new Switchroom({ publicUrl: "https://example.com" });
  const from = process.env["NUMBER"] ?? "";
  const created = await switchroom.calls.create({ from, to: "+4722222222", action: say("Hello.").gather({ action: "/menu" }) });
  assert.equal((await switchroom.calls.get(created.callId)).from, from);
  const ids: string[] = [];
  for await (const each of switchroom.calls.list()) {
    ids.push(each.callId);
  }
  assert.deepEqual(ids, [created.callId]);
  await switchroom.calls.hangup(created.callId);
  await assert.rejects(switchroom.calls.create({ from, to: "nobody" }), (error: unknown) => error instanceof ApiError && error.field === "to" && error.type === "/docs/errors/invalid");
});
