// Express: handlers of webhooks, which are verified and parsed, and return chains.
//
//   const webhooks = new Webhooks();
//   app.post("/answer", webhooks.onAction(() => say("Hello.").gather({ action: "/menu" })));
//   app.post("/menu", webhooks.onGather(({ dtmf }, request) => say(`${dtmf} ${request.query?.["attempt"]}`)));
//
// Add no body parser before them: they read the body themselves, as it came.

import { actionJson, type ActionInput } from "./chain.js";
import { environment } from "./environment.js";
import { SwitchroomError, UnexpectedBody, VerificationFailed } from "./errors.js";
import { parseAs, Verifier, type Bodies, type BodyKind } from "./verification.js";

/** What is used of a request: Node's, Express's. */
export interface IncomingRequest extends AsyncIterable<Uint8Array> {
  headers: Record<string, string | string[] | undefined>;
  socket: { remoteAddress?: string | undefined };
  protocol?: string;
  /** Path and query as they came: Express's, and Node's. */
  originalUrl?: string;
  url?: string | undefined;
  /** Of the query, in Express. */
  query?: Record<string, unknown>;
  /** Of the path, in Express. */
  params?: Record<string, unknown>;
  body?: unknown;
}

/** What is used of a response: Node's, Express's. */
export interface OutgoingResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body?: string): unknown;
}

export type Handler<K extends BodyKind, R extends IncomingRequest = IncomingRequest> = (
  body: Bodies[K],
  request: R,
) => ActionInput | undefined | void | Promise<ActionInput | undefined | void>;
export type Middleware<R extends IncomingRequest = IncomingRequest> = (
  request: R,
  response: OutgoingResponse,
  next: (error: unknown) => void,
) => void;

export interface WebhooksOptions {
  /** SWITCHROOM_WEBHOOK_SECRET, several separated by spaces; without it only this machine is served. */
  secret?: string | readonly string[];
  /** SWITCHROOM_PUBLIC_URL: where this server is; required with a secret: signatures name it. */
  publicUrl?: string;
}

const MAX_BODY_BYTES = 1_048_576;
const FORWARDED = ["forwarded", "x-forwarded-for", "x-real-ip"];
const LOOPBACK = /^(::ffff:)?127\.|^::1$/;

export class Webhooks {
  readonly #verifier: Verifier | undefined;
  readonly #publicUrl: string | undefined;

  constructor(options: WebhooksOptions = {}) {
    if (options.secret === "") {
      throw new SwitchroomError("secret: it is empty; without signatures, [] is expected");
    }
    const secret =
      options.secret ?? environment("SWITCHROOM_WEBHOOK_SECRET").split(" ").filter(Boolean);
    this.#verifier = secret.length > 0 ? new Verifier(secret) : undefined;
    this.#publicUrl = options.publicUrl ?? (environment("SWITCHROOM_PUBLIC_URL") || undefined);
    if (this.#verifier !== undefined && this.#publicUrl === undefined) {
      throw new SwitchroomError("publicUrl: SWITCHROOM_PUBLIC_URL is required with a secret");
    }
    if (this.#verifier === undefined) {
      const effect = "signatures are not verified, and only this machine is served";
      console.warn(`SWITCHROOM_WEBHOOK_SECRET is not set: ${effect}`);
    }
  }

  /** Serve requests for a call's next action: at its start, and after a dial. */
  onAction<R extends IncomingRequest>(handler: Handler<"action", R>): Middleware<R> {
    return this.#serve("action", handler);
  }

  /** Serve the digits of a gather. */
  onGather<R extends IncomingRequest>(handler: Handler<"gather", R>): Middleware<R> {
    return this.#serve("gather", handler);
  }

  /** Serve the message of a record. */
  onRecord<R extends IncomingRequest>(handler: Handler<"record", R>): Middleware<R> {
    return this.#serve("record", handler);
  }

  /** Serve status callbacks. */
  onEvent<R extends IncomingRequest>(handler: Handler<"event", R>): Middleware<R> {
    return this.#serve("event", handler);
  }

  #serve<K extends BodyKind, R extends IncomingRequest>(
    kind: K,
    handler: Handler<K, R>,
  ): Middleware<R> {
    return (request, response, next) => {
      this.#respond(kind, handler, request, response).catch(next);
    };
  }

  async #respond<K extends BodyKind, R extends IncomingRequest>(
    kind: K,
    handler: Handler<K, R>,
    request: R,
    response: OutgoingResponse,
  ): Promise<void> {
    const body = await bodyOf(request);
    if (body === null) {
      end(response, 413, { detail: `at most ${MAX_BODY_BYTES} bytes` });
      return;
    }
    let found: Bodies[K];
    try {
      await this.#verify(body, request);
      found = parseAs(body, kind);
    } catch (error) {
      if (!(error instanceof VerificationFailed)) {
        throw error;
      }
      end(response, error instanceof UnexpectedBody ? 400 : 401, { detail: error.message });
      return;
    }
    const action = await handler(found, request);
    if (action === undefined) {
      end(response, 204);
    } else {
      end(response, 200, actionJson(action, this.#publicUrl ?? ownUrl(request)));
    }
  }

  async #verify(body: Uint8Array, request: IncomingRequest): Promise<void> {
    if (this.#verifier !== undefined && this.#publicUrl !== undefined) {
      const target = request.originalUrl ?? request.url ?? "";
      if (!target.startsWith("/")) {
        throw new VerificationFailed("the request's target is no path"); // it could name another host
      }
      const url = this.#publicUrl.replace(/\/+$/, "") + target;
      await this.#verifier.verify(body, request.headers, url);
      return;
    }
    const isForwarded = FORWARDED.some((name) => request.headers[name] !== undefined);
    if (isForwarded || !LOOPBACK.test(request.socket.remoteAddress ?? "")) {
      throw new VerificationFailed("only this machine is served: set SWITCHROOM_WEBHOOK_SECRET");
    }
  }
}

/** Return the body as it came; null: it is too large. */
async function bodyOf(request: IncomingRequest): Promise<Uint8Array | null> {
  if (request.body instanceof Uint8Array) {
    return request.body; // of express.raw()
  }
  if (request.body !== undefined) {
    throw new TypeError("a body parser has read the body: add webhooks before it");
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      return null;
    }
  }
  const whole = new Uint8Array(size);
  let position = 0;
  for (const chunk of chunks) {
    whole.set(chunk, position);
    position += chunk.length;
  }
  return whole;
}

function ownUrl(request: IncomingRequest): string {
  return `${request.protocol ?? "http"}://${String(request.headers["host"])}`;
}

function end(response: OutgoingResponse, status: number, body?: unknown): void {
  response.statusCode = status;
  if (body === undefined) {
    response.end();
    return;
  }
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify(body));
}
