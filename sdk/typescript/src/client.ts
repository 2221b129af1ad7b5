// The client of the REST API.
//
//   const switchroom = new Switchroom();
//   await switchroom.calls.create({ from: "+4721930000", to: "+4722222222", action: say("Hello.") });

import { environment } from "./environment.js";
import { ApiError, ConnectionFailed, SwitchroomError, type Problem } from "./errors.js";
import { Resources } from "./generated/resources.js";
import { RecordingFiles } from "./recordings.js";
import {
  content,
  headers,
  isRepeatable,
  target,
  type Request,
  type RequestOptions,
  type Sender,
} from "./request.js";

const DEFAULT_URL = "http://127.0.0.1:8000";
const TIMEOUT_MS = 30_000;
const FILE_TIMEOUT_MS = 600_000;
const MAX_ATTEMPTS = 3;
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;
const UNAUTHORIZED = 401;
const TOO_MANY = 429;
const TRANSIENT = new Set([502, 503, 504]);

/** What is not given is read from the environment. */
export interface SwitchroomOptions {
  /** SWITCHROOM_API_URL; http://127.0.0.1:8000 without it. */
  baseUrl?: string;
  /** SWITCHROOM_API_KEY. */
  apiKey?: string;
  /** SWITCHROOM_ACCOUNT; with it and a secret the client gets access tokens. */
  account?: string;
  /** SWITCHROOM_API_SECRET. */
  apiSecret?: string;
  /** SWITCHROOM_PUBLIC_URL: where addresses that begin with `/` are. */
  publicUrl?: string;
  fetch?: typeof fetch;
  sleep?: (ms: number) => Promise<void>;
}

export class Switchroom extends Resources {
  override readonly recordings: RecordingFiles;
  readonly #transport: Transport;

  constructor(options: SwitchroomOptions = {}) {
    const transport = new Transport(options);
    super(transport);
    this.recordings = new RecordingFiles(transport);
    this.#transport = transport;
  }

  /** Send a request to any path, such as `/srmain/contacts_list/contactlists`. */
  request<T = unknown>(
    method: string,
    path: string,
    parts: { query?: Record<string, unknown>; body?: object } = {},
    options: RequestOptions = {},
  ): Promise<T> {
    const segments = path.replace(/^\/+|\/+$/g, "").split("/");
    const isIdempotent = options.idempotencyKey !== undefined;
    return this.#transport.send<T>({ method, path: segments, ...parts, isIdempotent }, options);
  }
}

class Transport implements Sender {
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #account: string;
  readonly #apiSecret: string;
  readonly #publicUrl: string | undefined;
  readonly #fetch: typeof fetch;
  readonly #sleep: (ms: number) => Promise<void>;
  #token = "";

  constructor(options: SwitchroomOptions) {
    const key = options.apiKey ?? environment("SWITCHROOM_API_KEY");
    if (!key) {
      throw new SwitchroomError("apiKey: give one, or set SWITCHROOM_API_KEY");
    }
    // The secret of the environment belongs to its own key.
    const isOwn = options.apiKey !== undefined;
    this.#apiKey = key;
    this.#account = options.account ?? (isOwn ? "" : environment("SWITCHROOM_ACCOUNT"));
    this.#apiSecret = options.apiSecret ?? (isOwn ? "" : environment("SWITCHROOM_API_SECRET"));
    const url = options.baseUrl ?? (environment("SWITCHROOM_API_URL") || DEFAULT_URL);
    this.#baseUrl = url.replace(/\/+$/, "");
    this.#publicUrl = options.publicUrl ?? (environment("SWITCHROOM_PUBLIC_URL") || undefined);
    this.#fetch = options.fetch ?? fetch;
    this.#sleep = options.sleep ?? ((ms) => new Promise((resume) => setTimeout(resume, ms)));
  }

  async send<T>(request: Request, options: RequestOptions): Promise<T> {
    const sent = await headers(request, options);
    const body = content(request, this.#publicUrl);
    let mayRenewToken = this.#token !== "";
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attempt<T>(request, sent, body, options.signal);
      } catch (error) {
        if (error instanceof ApiError && error.status === UNAUTHORIZED && mayRenewToken) {
          this.#token = "";
          mayRenewToken = false;
          continue;
        }
        await this.#sleep(delayAfter(error, attempt, isRepeatable(request)));
      }
    }
  }

  async #attempt<T>(
    request: Request,
    sent: Record<string, string>,
    body: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const authorized = { ...sent, Authorization: await this.#authorization(signal) };
    const path = target(request);
    const isFile = request.isFile === true;
    return (await this.#exchange(request.method, path, authorized, body, signal, isFile)) as T;
  }

  async #authorization(signal: AbortSignal | undefined): Promise<string> {
    if (this.#account && this.#apiSecret && this.#token === "") {
      const path = `/auth/get-access-token/${encodeURIComponent(this.#account)}`;
      const body = JSON.stringify({ apiKey: this.#apiKey, apiSecret: this.#apiSecret });
      const kind = { "Content-Type": "application/json" };
      const found = await this.#exchange("POST", path, kind, body, signal);
      this.#token = (found as { accessToken: string }).accessToken;
    }
    return this.#token || this.#apiKey;
  }

  async #exchange(
    method: string,
    path: string,
    sent: Record<string, string>,
    body: string | undefined,
    signal: AbortSignal | undefined,
    isFile = false,
  ): Promise<unknown> {
    const timeout = AbortSignal.timeout(isFile ? FILE_TIMEOUT_MS : TIMEOUT_MS);
    let response: Response;
    let text: string;
    try {
      response = await this.#fetch(this.#baseUrl + path, {
        method,
        headers: sent,
        body: body ?? null,
        redirect: "error",
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      if (isFile && response.ok) {
        return new Uint8Array(await response.arrayBuffer());
      }
      text = await response.text();
    } catch (cause) {
      if (signal?.aborted) {
        throw cause;
      }
      throw new ConnectionFailed(`${this.#baseUrl} did not respond: ${reasonOf(cause)}`, { cause });
    }
    return read(response, text);
  }
}

function read(response: Response, text: string): unknown {
  const requestId = response.headers.get("x-request-id") ?? "";
  if (response.ok) {
    try {
      return text === "" ? undefined : JSON.parse(text);
    } catch {
      const problem = { code: "invalid_response", detail: "the response is none of this API" };
      throw new ApiError(response.status, problem, requestId, undefined);
    }
  }
  const after = response.headers.get("retry-after") ?? "";
  const retryAfterS = /^[0-9]+$/.test(after) ? Number(after) : undefined;
  throw new ApiError(response.status, problemOf(text), requestId, retryAfterS);
}

function problemOf(text: string): Problem {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === "object" && found !== null ? found : {};
  } catch {
    return {};
  }
}

/** Return the ms until the next attempt; throws the error if there is none. */
function delayAfter(error: unknown, attempt: number, repeatable: boolean): number {
  const backoffMs = FIRST_DELAY_MS * 2 ** (attempt - 1);
  let delayMs: number | undefined;
  if (error instanceof ApiError) {
    const isBusy = error.status === TOO_MANY || (TRANSIENT.has(error.status) && repeatable);
    const requestedMs = error.retryAfterS === undefined ? backoffMs : error.retryAfterS * 1000;
    delayMs = isBusy ? requestedMs : undefined;
  } else if (error instanceof ConnectionFailed && repeatable) {
    delayMs = backoffMs;
  }
  if (delayMs === undefined || delayMs > MAX_DELAY_MS || attempt >= MAX_ATTEMPTS) {
    throw error;
  }
  return delayMs;
}

function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error ? (cause.cause ?? cause) : cause;
  return inner instanceof Error ? inner.message || inner.name : String(inner);
}
