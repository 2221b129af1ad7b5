// What all chains have in common: a next action, and the JSON with absolute addresses.

import { ChainEnded, RelativeAddress } from "./errors.js";
import type { Action, Verb } from "./generated/types.js";

/** A chain, a verb as JSON, or the address of a webhook; `/menu` is one at your own server. */
export type ActionInput = BaseChain | Verb | string;
/** A chain, or a verb as JSON. */
export type VerbInput = BaseChain | Verb;

type Json = Record<string, unknown>;

const ADDRESSES = new Set(["action", "onError", "audioUrl", "fallback", "whisper", "onMachine"]);

export class BaseChain {
  readonly #verb: Json;

  constructor(verb: Json) {
    this.#verb = present(verb);
  }

  /** Return this chain with an action after its last verb; this chain does not change. */
  andThen(action: ActionInput): this {
    return this.#with(continued(this.#verb, inner(action)));
  }

  /** Return the verb as JSON; `baseUrl` is where addresses that begin with `/` are. */
  toVerb(baseUrl?: string): Verb {
    return resolved(this.#verb, baseUrl) as Verb;
  }

  /** Return the verb as JSON; all addresses must be absolute. */
  toJSON(): Verb {
    return this.toVerb();
  }

  /** Return the verb as it is, with addresses that may begin with `/`. */
  unresolved(): Json {
    return this.#verb;
  }

  #with(verb: Json): this {
    const made = this.constructor as new (verb: Json) => this;
    return new made(verb);
  }
}

function continued(verb: Json, action: unknown): Json {
  const next = verb["action"];
  if (typeof next === "string") {
    throw new ChainEnded(next);
  }
  return { ...verb, action: next === undefined ? action : continued(next as Json, action) };
}

/** Return what an action is in JSON. */
export function inner(action: ActionInput | undefined): unknown {
  return action instanceof BaseChain ? action.unresolved() : action;
}

/** Return an object without fields that have no value. */
export function present(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Return JSON whose addresses are absolute. */
export function resolved(value: unknown, baseUrl?: string): unknown {
  if (value instanceof BaseChain) {
    return resolved(value.unresolved(), baseUrl);
  }
  if (Array.isArray(value)) {
    return value.map((each) => resolved(each, baseUrl));
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, resolvedField(key, each, baseUrl)]),
  );
}

function resolvedField(key: string, value: unknown, baseUrl?: string): unknown {
  if (key === "customData" || key === "contact") {
    return value; // yours, as it is
  }
  if (!ADDRESSES.has(key)) {
    return resolved(value, baseUrl);
  }
  if (typeof value === "string") {
    return absolute(value, baseUrl);
  }
  if (Array.isArray(value)) {
    return value.map((each) => (typeof each === "string" ? absolute(each, baseUrl) : each));
  }
  return resolved(value, baseUrl);
}

/** Return an address; one that begins with `/` needs a base. */
export function absolute(address: string, baseUrl?: string): string {
  if (!address.startsWith("/")) {
    return address;
  }
  if (baseUrl === undefined) {
    throw new RelativeAddress(address);
  }
  return baseUrl.replace(/\/+$/, "") + address;
}

/** Return the JSON of an action. */
export function actionJson(action: ActionInput, baseUrl?: string): Action {
  return (typeof action === "string" ? absolute(action, baseUrl) : resolved(action, baseUrl)) as Action;
}
