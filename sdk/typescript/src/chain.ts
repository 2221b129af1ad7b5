// What all chains have in common: a next action, and the JSON with absolute addresses.

import { ChainEnded, RelativeAddress } from "./errors.js";
import type { Action, Verb } from "./generated/types.js";

/** A chain, a verb as JSON, or the address of a webhook; `/menu` is one at your own server. */
export type ActionInput = BaseChain | Verb | string;
/** A chain, or a verb as JSON. */
export type VerbInput = BaseChain | Verb;

type Json = Record<string, unknown>;

type Kind = "body" | "detection" | "nodes" | "node" | "action" | "data" | "address" | "own";

// Each kind of object with its fields that hold addresses, or objects that do; `*` is any name.
// All other fields are the customer's own data. The Python SDK has the same table.
const FIELDS: Partial<Record<Kind, Map<string, Kind>>> = {
  body: fields({ action: "action", fallback: "action", machineDetection: "detection", nodes: "nodes" }),
  detection: fields({ onMachine: "action" }),
  nodes: fields({ "*": "node" }),
  node: fields({ data: "data" }),
  action: fields({ action: "action", onError: "action", data: "data" }),
  data: fields({
    audioUrl: "address",
    url: "address",
    fallback: "action",
    whisper: "action",
    confirm: "data",
  }),
};

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

function fields(kinds: Record<string, Kind>): Map<string, Kind> {
  return new Map(Object.entries(kinds)); // which has no names of its own, as objects do
}

/** Return JSON with absolute addresses where its kind holds some. */
export function resolved(value: unknown, baseUrl?: string, kind: Kind = "action"): unknown {
  if (value instanceof BaseChain) {
    return resolved(value.unresolved(), baseUrl); // wherever it is
  }
  if (typeof value === "string") {
    return kind === "action" || kind === "address" ? absolute(value, baseUrl) : value;
  }
  if (Array.isArray(value)) {
    return value.map((each) => resolved(each, baseUrl, kind));
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (typeof (value as Json)["toJSON"] === "function") {
    return value; // a date, or the like
  }
  const kinds = FIELDS[kind];
  const kindOf = (name: string) => kinds?.get(name) ?? kinds?.get("*") ?? "own";
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, resolved(each, baseUrl, kindOf(name))]),
  );
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
  return resolved(action, baseUrl) as Action;
}
