// The TypeScript SDK of Switchroom: verbs, webhooks, and the REST API.

export { type ActionInput, type VerbInput } from "./chain.js";
export { Switchroom, type SwitchroomOptions } from "./client.js";
export * from "./errors.js";
export type * as models from "./generated/models.js";
export type {
  Action,
  ActionRequest,
  CallEvent,
  CallRecord,
  Confirm,
  DialResult,
  GatherResult,
  MachineDetection,
  RecordResult,
  Verb,
} from "./generated/types.js";
export * from "./generated/verbs.js";
export { Paginator, type ListOptions } from "./paging.js";
export { type RequestOptions } from "./request.js";
export { parse, parseAs, Verifier, type Bodies, type BodyKind } from "./verification.js";
