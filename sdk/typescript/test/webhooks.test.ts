// Signatures that the engine makes are verified, and no others; Express responds with chains.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import express from "express";
import { parse, parseAs, say, gather, SwitchroomError, UnexpectedBody, VerificationFailed, Verifier } from "switchroom-sdk";
import { Webhooks } from "switchroom-sdk/express";

interface Vector {
  secrets: string[];
  headers: Record<string, string>;
  body: string;
  atS: number;
}

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = "whsec_b3RoZXIgc2VjcmV0IG9mIGFub3RoZXI=";
const NOW_S = 1_795_262_400;
const DIGITS = '{"callId":"c1","dtmf":"1","to":{"channelId":"c1.l0"},"reason":"max-digits"}';

function signed(body: string, secret = SECRET, atS = NOW_S): Record<string, string> {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const signature = createHmac("sha256", key).update(`r1.${atS}.${body}`).digest("base64");
  return {
    "webhook-id": "r1",
    "webhook-timestamp": String(atS),
    "webhook-signature": `v1,${signature}`,
  };
}

function verifier(...secrets: string[]): Verifier {
  return new Verifier(secrets.length > 0 ? secrets : SECRET, { clock: () => NOW_S });
}

test("the engine's signatures are verified", async () => {
  const file = process.env["SIGNATURES"]; // made by the engine's signer
  if (file === undefined) {
    return;
  }
  const vectors: Vector[] = JSON.parse(await readFile(file, "utf8"));
  for (const { secrets, headers, body, atS } of vectors) {
    const id = await new Verifier(secrets, { clock: () => atS }).verify(body, headers);
    assert.equal(id, headers["webhook-id"]);
  }
});

test("either secret verifies while they rotate", async () => {
  assert.equal(await verifier(OTHER, SECRET).verify(DIGITS, signed(DIGITS)), "r1");
  assert.equal(await verifier().verify(Buffer.from(DIGITS), signed(DIGITS)), "r1");
});

test("an old request is rejected, and one from the future", async () => {
  for (const ageS of [-301, 301]) {
    const old = verifier().verify(DIGITS, signed(DIGITS, SECRET, NOW_S - ageS));
    await assert.rejects(old, /^VerificationFailed: webhook-timestamp/);
  }
});

test("whatever is changed is rejected", async () => {
  const headers = signed(DIGITS);
  const changes = [
    { "webhook-id": "r2" },
    { "webhook-timestamp": String(NOW_S + 1) },
    { "webhook-timestamp": "now" },
    { "webhook-signature": "v1,AAAA" },
    { "webhook-signature": "v1,no base64" },
    { "webhook-signature": (headers["webhook-signature"] ?? "").replace("v1,", "v1a,") },
    { "webhook-signature": "" },
  ];
  for (const change of changes) {
    await assert.rejects(verifier().verify(DIGITS, { ...headers, ...change }), VerificationFailed);
  }
  await assert.rejects(verifier().verify(`${DIGITS} `, headers), VerificationFailed);
  await assert.rejects(verifier(OTHER).verify(DIGITS, headers), VerificationFailed);
});

test("a secret that is none is rejected", () => {
  for (const secret of ["", "whsec_", "whsec_no base64", []]) {
    assert.throws(() => new Verifier(secret), SwitchroomError);
  }
});

test("bodies are parsed by what they say", () => {
  assert.equal(parseAs(DIGITS, "gather").dtmf, "1");
  assert.equal(parse('{"callId":"c","event":"record","reason":"silence"}').kind, "record");
  assert.equal(parse('{"callId":"c","event":"completed","sequenceNumber":1}').kind, "event");
  assert.equal(parse('{"callId":"c","event":"dial"}').kind, "action");
  assert.throws(() => parseAs(DIGITS, "action"), UnexpectedBody);
  for (const body of ["", "[]", "null", "{", "{}"]) {
    assert.throws(() => parse(body), UnexpectedBody);
  }
});

async function served(context: TestContext, secret: string | string[]): Promise<string> {
  const app = express();
  const webhooks = new Webhooks({ secret, publicUrl: "https://example.com" });
  app.post("/menu", webhooks.onGather(async ({ dtmf }) => say(dtmf).andThen(gather({ action: "/menu" }))));
  app.post("/menu/:language", webhooks.onGather(({ dtmf }, request) =>
    say(`${dtmf} ${String(request.query?.["attempt"])} ${String(request.params?.["language"])}`)));
  app.post("/typed", webhooks.onGather((_result, request: express.Request) => say(request.path)));
  app.post("/status", webhooks.onEvent(() => undefined));
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function post(url: string, body: string, headers: Record<string, string>): Promise<Response> {
  return fetch(url, { method: "POST", body, headers: { "Content-Type": "application/json", ...headers } });
}

test("Express serves a signed request, and no other", async (context) => {
  const url = await served(context, SECRET);
  const nowS = Math.floor(Date.now() / 1000);
  const response = await post(`${url}/menu`, DIGITS, signed(DIGITS, SECRET, nowS));
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), {
    type: "say",
    data: { text: "1" },
    action: { type: "gather", data: {}, action: "https://example.com/menu" },
  });
  assert.equal((await post(`${url}/menu`, DIGITS, signed(DIGITS, OTHER, nowS))).status, 401);
  assert.equal((await post(`${url}/menu`, "{}", signed("{}", SECRET, nowS))).status, 400);
  const large = " ".repeat(1_048_577);
  assert.equal((await post(`${url}/menu`, large, signed(large, SECRET, nowS))).status, 413);
  const event = '{"callId":"c","event":"completed","sequenceNumber":1}';
  assert.equal((await post(`${url}/status`, event, signed(event, SECRET, nowS))).status, 204);
});

test("a handler gets the request, with query and path", async (context) => {
  const url = await served(context, SECRET);
  const nowS = Math.floor(Date.now() / 1000);
  const response = await post(`${url}/menu/de?attempt=2`, DIGITS, signed(DIGITS, SECRET, nowS));
  assert.deepEqual(await response.json(), { type: "say", data: { text: "1 2 de" } });
  const typed = await post(`${url}/typed`, DIGITS, signed(DIGITS, SECRET, nowS));
  assert.deepEqual(await typed.json(), { type: "say", data: { text: "/typed" } });
});

test("an empty secret, as of a variable without a value, is an error", () => {
  assert.throws(() => new Webhooks({ secret: "" }), SwitchroomError);
});

test("without a secret only this machine is served", async (context) => {
  context.mock.method(console, "warn", () => undefined);
  const url = await served(context, []);
  assert.equal((await post(`${url}/menu`, DIGITS, {})).status, 200);
  assert.equal((await post(`${url}/menu`, DIGITS, { "X-Forwarded-For": "192.0.2.1" })).status, 401);
});
