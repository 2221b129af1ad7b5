// Signatures that the engine makes are verified, and no others; Express responds with chains.

import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import express from "express";
import { parse, parseAs, say, gather, SwitchroomError, UnexpectedBody, VerificationFailed, Verifier } from "switchroom-sdk";
import { Webhooks } from "switchroom-sdk/express";

interface Vector {
  url: string;
  secrets: string[];
  headers: Record<string, string>;
  body: string;
  atS: number;
}

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = "whsec_b3RoZXIgc2VjcmV0IG9mIGFub3RoZXI=";
const NOW_S = 1_795_262_400;
const PUBLIC_URL = "https://example.com";
const URL = `${PUBLIC_URL}/menu`;
const DIGITS = '{"callId":"c1","dtmf":"1","to":{"channelId":"c1.l0"},"reason":"max-digits"}';

function signed(body: string, secret = SECRET, atS = NOW_S, url = URL): Record<string, string> {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const digest = createHash("sha256").update(url).digest("hex");
  const signature = createHmac("sha256", key).update(`${digest}.r1.${atS}.${body}`).digest("base64");
  return {
    "webhook-id": "r1",
    "webhook-timestamp": String(atS),
    "webhook-url-sha256": digest,
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
  for (const { url, secrets, headers, body, atS } of vectors) {
    const id = await new Verifier(secrets, { clock: () => atS }).verify(body, headers, url);
    assert.equal(id, headers["webhook-id"]);
  }
});

test("either secret verifies while they rotate", async () => {
  assert.equal(await verifier(OTHER, SECRET).verify(DIGITS, signed(DIGITS), URL), "r1");
  assert.equal(await verifier().verify(Buffer.from(DIGITS), signed(DIGITS), URL), "r1");
});

test("an old request is rejected, and one from the future", async () => {
  for (const ageS of [-301, 301]) {
    const old = verifier().verify(DIGITS, signed(DIGITS, SECRET, NOW_S - ageS), URL);
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
    { "webhook-url-sha256": "" },
    { "webhook-url-sha256": "0".repeat(64) },
  ];
  for (const change of changes) {
    await assert.rejects(verifier().verify(DIGITS, { ...headers, ...change }, URL), VerificationFailed);
  }
  await assert.rejects(verifier().verify(`${DIGITS} `, headers, URL), VerificationFailed);
  await assert.rejects(verifier(OTHER).verify(DIGITS, headers, URL), VerificationFailed);
});

test("a signature is of one address", async () => {
  const others = [`${URL}/`, `${URL}?a=1`, URL.replace("https", "http"), URL.replace(".com", ".com:8443"), "https://evil.example/menu"];
  for (const url of others) {
    await assert.rejects(verifier().verify(DIGITS, signed(DIGITS), url), /^VerificationFailed: webhook-url-sha256/);
    const digest = createHash("sha256").update(url).digest("hex");
    const forged = { ...signed(DIGITS), "webhook-url-sha256": digest };
    await assert.rejects(verifier().verify(DIGITS, forged, url), /^VerificationFailed: webhook-signature/);
  }
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
  const webhooks = new Webhooks({ secret, publicUrl: PUBLIC_URL });
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

function signedNow(path: string, body: string, secret = SECRET): Record<string, string> {
  return signed(body, secret, Math.floor(Date.now() / 1000), PUBLIC_URL + path);
}

function post(url: string, body: string, headers: Record<string, string>): Promise<Response> {
  return fetch(url, { method: "POST", body, headers: { "Content-Type": "application/json", ...headers } });
}

test("Express serves a signed request, and no other", async (context) => {
  const url = await served(context, SECRET);
  const response = await post(`${url}/menu`, DIGITS, signedNow("/menu", DIGITS));
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), {
    type: "say",
    data: { text: "1" },
    action: { type: "gather", data: {}, action: "https://example.com/menu" },
  });
  assert.equal((await post(`${url}/menu`, DIGITS, signedNow("/menu", DIGITS, OTHER))).status, 401);
  assert.equal((await post(`${url}/menu`, "{}", signedNow("/menu", "{}"))).status, 400);
  const large = " ".repeat(1_048_577);
  assert.equal((await post(`${url}/menu`, large, signedNow("/menu", large))).status, 413);
  const event = '{"callId":"c","event":"completed","sequenceNumber":1}';
  assert.equal((await post(`${url}/status`, event, signedNow("/status", event))).status, 204);
});

test("a handler gets the request, with query and path", async (context) => {
  const url = await served(context, SECRET);
  const response = await post(`${url}/menu/de?attempt=2`, DIGITS, signedNow("/menu/de?attempt=2", DIGITS));
  assert.deepEqual(await response.json(), { type: "say", data: { text: "1 2 de" } });
  const typed = await post(`${url}/typed`, DIGITS, signedNow("/typed", DIGITS));
  assert.deepEqual(await typed.json(), { type: "say", data: { text: "/typed" } });
});

test("what is signed for another server or path is rejected", async (context) => {
  const url = await served(context, SECRET);
  const nowS = Math.floor(Date.now() / 1000);
  for (const other of [`${url}/menu`, "https://evil.example/menu", `${PUBLIC_URL}/status`]) {
    assert.equal((await post(`${url}/menu`, DIGITS, signed(DIGITS, SECRET, nowS, other))).status, 401);
  }
});

test("a secret needs the public URL", () => {
  assert.throws(() => new Webhooks({ secret: SECRET }), /publicUrl/);
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
