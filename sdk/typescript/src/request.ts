// A request to the REST API, and what sends it.

import { resolved } from "./chain.js";
import { webCrypto } from "./crypto.js";
import { InvalidField } from "./errors.js";

/** Options of one request. */
export interface RequestOptions {
  /** By which a repetition of a POST is known; a random one unless you give it. */
  idempotencyKey?: string;
  /** Change this version only; of another version it is 412. */
  ifMatch?: string;
  /** `*`: create the resource; if there is one it is 412. */
  ifNoneMatch?: string;
  signal?: AbortSignal;
}

export interface Request {
  method: string;
  path: readonly (string | number)[];
  query?: Readonly<Record<string, unknown>>;
  body?: object;
  isIdempotent?: boolean;
  /** Its response is a file, and not JSON. */
  isFile?: boolean;
}

/** Sends requests; rejects with ApiError or ConnectionFailed. */
export interface Sender {
  send<T>(request: Request, options: RequestOptions): Promise<T>;
}

export function target(request: Request): string {
  const wrong = request.path.find((each) => ["", ".", ".."].includes(String(each)));
  if (wrong !== undefined) {
    throw new InvalidField("path", `"${wrong}" is no id`);
  }
  const path = request.path.map((each) => encodeURIComponent(String(each))).join("/");
  const words = Object.entries(request.query ?? {})
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => [name, String(value)]);
  const query = new URLSearchParams(words).toString();
  return `/${path}${query ? `?${query}` : ""}`;
}

export async function headers(
  request: Request,
  options: RequestOptions,
): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  if (request.body !== undefined) {
    found["Content-Type"] = "application/json";
  }
  if (request.method === "POST") {
    found["Idempotency-Key"] = options.idempotencyKey ?? (await webCrypto()).randomUUID();
  }
  if (options.ifMatch !== undefined) {
    found["If-Match"] = quoted(options.ifMatch);
  }
  if (options.ifNoneMatch !== undefined) {
    found["If-None-Match"] = quoted(options.ifNoneMatch);
  }
  return found;
}

export function content(request: Request, publicUrl?: string): string | undefined {
  if (request.body === undefined) {
    return undefined;
  }
  const kind = "type" in request.body ? "action" : "body"; // a flow may be a tree
  return JSON.stringify(resolved(request.body, publicUrl, kind));
}

/** Whether sending it twice has the effect of sending it once. */
export function isRepeatable(request: Request): boolean {
  return request.isIdempotent === true || ["GET", "PUT", "DELETE"].includes(request.method);
}

/** An ETag; a version without quotes gets them. */
function quoted(version: string): string {
  return version === "*" || version.startsWith('"') ? version : `"${version}"`;
}
