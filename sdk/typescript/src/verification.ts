// Signatures of requests: HMAC-SHA256 over the hash of the address, id, time and body.
//
// The content after the hash is that of Standard Webhooks. What is signed for one address verifies
// at no other.

import { webCrypto } from "./crypto.js";
import { SwitchroomError, UnexpectedBody, VerificationFailed } from "./errors.js";
import type { ActionRequest, CallEvent, GatherResult, RecordResult } from "./generated/types.js";

/** The bodies of requests to your server, by their kind. */
export interface Bodies {
  action: ActionRequest;
  gather: GatherResult;
  record: RecordResult;
  event: CallEvent;
}
export type BodyKind = keyof Bodies;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const TOLERANCE_S = 300;
const MAX_DIGITS = 16;
const ALGORITHM = { name: "HMAC", hash: "SHA-256" };
const URL_PARTS = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]+)([^?#]*)(\?[^#]+)?/i;
const DEFAULT_PORTS: Readonly<Record<string, RegExp>> = {
  https: /:443$/,
  wss: /:443$/,
  http: /:80$/,
  ws: /:80$/,
};

export interface VerifierOptions {
  toleranceS?: number;
  /** Seconds since 1970. */
  clock?: () => number;
}

/** Verifies requests with the account's secret, or with several while they rotate. */
export class Verifier {
  readonly #keys: Promise<CryptoKey[]>;
  readonly #toleranceS: number;
  readonly #clock: () => number;

  constructor(secrets: string | readonly string[], options: VerifierOptions = {}) {
    const given = typeof secrets === "string" ? [secrets] : secrets;
    if (given.length === 0) {
      throw new SwitchroomError("secret: at least one is required");
    }
    const keys = given.map(secretBytes);
    this.#keys = Promise.all(keys.map(imported));
    this.#toleranceS = options.toleranceS ?? TOLERANCE_S;
    this.#clock = options.clock ?? (() => Date.now() / 1000);
  }

  /**
   * Return the id of a request; `body` is what came, unchanged. Rejects with VerificationFailed.
   *
   * `url` is the address that it was sent to: your server's public one, with the path and query of
   * the request as they came. Do not take the host from the request: its sender wrote it.
   *
   * The id is the same in each repetition of a request: use it to ignore duplicates.
   */
  async verify(body: Uint8Array | string, headers: Headers, url: string): Promise<string> {
    const id = header(headers, "webhook-id");
    const timestamp = header(headers, "webhook-timestamp");
    const signatures = header(headers, "webhook-signature");
    const digest = await hashOf(signedUrl(url));
    if (header(headers, "webhook-url-sha256") !== digest) {
      throw new VerificationFailed(`webhook-url-sha256: it is signed for another URL than ${url}`);
    }
    this.#checkTime(timestamp);
    const signed = joined(`${digest}.${id}.${timestamp}.`, body);
    for (const key of await this.#keys) {
      for (const signature of signatures.split(" ")) {
        if (await matches(key, signature, signed)) {
          return id;
        }
      }
    }
    throw new VerificationFailed("webhook-signature: it is not made with this secret");
  }

  #checkTime(timestamp: string): void {
    if (!/^[0-9]+$/.test(timestamp) || timestamp.length > MAX_DIGITS) {
      throw new VerificationFailed("webhook-timestamp: seconds since 1970 are expected");
    }
    if (Math.abs(this.#clock() - Number(timestamp)) > this.#toleranceS) {
      const limit = `more than ${this.#toleranceS} s from now`;
      throw new VerificationFailed(`webhook-timestamp: ${limit}`);
    }
  }
}

/**
 * Return the spelling of an address that is signed.
 *
 * Scheme and host are in lower case, without a default port and a fragment; path and query are as
 * they were sent.
 */
export function signedUrl(url: string): string {
  const found = URL_PARTS.exec(url);
  if (found === null) {
    throw new SwitchroomError(`url: an absolute address is expected, not ${url}`);
  }
  const [, scheme = "", host = "", path, query = ""] = found;
  const port = DEFAULT_PORTS[scheme.toLowerCase()];
  const origin = `${scheme}://${port === undefined ? host : host.replace(port, "")}`;
  return `${origin.toLowerCase()}${path || "/"}${query}`;
}

async function hashOf(text: string): Promise<string> {
  const { subtle } = await webCrypto();
  const hash = new Uint8Array(await subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function imported(key: BufferSource): Promise<CryptoKey> {
  const { subtle } = await webCrypto();
  return subtle.importKey("raw", key, ALGORITHM, false, ["verify"]);
}

async function matches(key: CryptoKey, signature: string, signed: Uint8Array): Promise<boolean> {
  if (!signature.startsWith("v1,")) {
    return false;
  }
  const given = base64Bytes(signature.slice("v1,".length));
  const { subtle } = await webCrypto();
  return given !== null && (await subtle.verify(ALGORITHM, key, given, signed as BufferSource));
}

function header(headers: Headers, name: string): string {
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  if (typeof found !== "string" || found === "") {
    throw new VerificationFailed(`${name}: the header is missing`);
  }
  return found;
}

function secretBytes(secret: string): BufferSource {
  const key = base64Bytes(secret.replace(/^whsec_/, ""));
  if (key === null || key.byteLength === 0) {
    throw new SwitchroomError("secret: whsec_ and base64 are expected");
  }
  return key;
}

function base64Bytes(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) {
    return null;
  }
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

function joined(head: string, body: Uint8Array | string): Uint8Array {
  const encoder = new TextEncoder();
  const first = encoder.encode(head);
  const second = typeof body === "string" ? encoder.encode(body) : body;
  const found = new Uint8Array(first.length + second.length);
  found.set(first);
  found.set(second, first.length);
  return found;
}

/** Return the kind of a body, by what it says, and the body. */
export function parse(body: Uint8Array | string): { kind: BodyKind; body: Bodies[BodyKind] } {
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    throw new UnexpectedBody("body: it is not JSON");
  }
  if (typeof found !== "object" || found === null || !("callId" in found)) {
    throw new UnexpectedBody("body: an object with a callId is expected");
  }
  return { kind: kindOf(found), body: found as Bodies[BodyKind] };
}

/** Return a body of one kind; throws UnexpectedBody for another. */
export function parseAs<K extends BodyKind>(body: Uint8Array | string, kind: K): Bodies[K] {
  const found = parse(body);
  if (found.kind !== kind) {
    throw new UnexpectedBody(`body: ${kind} is expected, not ${found.kind}`);
  }
  return found.body as Bodies[K];
}

function kindOf(found: object): BodyKind {
  if ("sequenceNumber" in found) {
    return "event";
  }
  if ("dtmf" in found) {
    return "gather";
  }
  return "reason" in found && "event" in found && found.event === "record" ? "record" : "action";
}
