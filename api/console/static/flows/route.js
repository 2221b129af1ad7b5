// @ts-check
// A number's route as a form has it, and back.

import { parse, stringify } from "../lib/json.js";

/**
 * @typedef {Record<string, any>} Route as the REST API has it
 * @typedef {"webhook" | "flow" | "agent" | "tree"} RouteKind
 * @typedef {{
 *   kind: RouteKind,
 *   address: string | null,
 *   flowId: string | null,
 *   agentId: string | null,
 *   tree: string | null,
 *   fallback: string | null,
 *   recordCall: boolean,
 *   answer: boolean,
 *   allowListeners: boolean,
 *   labels: string[],
 *   customData: string | null,
 *   statusCallbackUrl: string | null,
 * }} RouteForm
 */

/** @type {Record<RouteKind, string>} */
export const KINDS = {
  flow: "a flow",
  agent: "an agent",
  webhook: "a webhook",
  tree: "a tree",
};

/**
 * Return what a route runs, and its name.
 * @param {Route} route
 * @returns {{kind: RouteKind, name: string}}
 */
export function describeRoute(route) {
  const { action, flowId } = route;
  if (flowId) return { kind: "flow", name: flowId };
  if (typeof action === "string") return { kind: "webhook", name: action };
  const agentId = agentOf(action);
  if (agentId !== null) return { kind: "agent", name: agentId };
  return { kind: "tree", name: String(action?.type ?? "") };
}

/**
 * Return the agent whom a tree does nothing but dial.
 * @param {any} action
 * @returns {string | null}
 */
function agentOf(action) {
  const { type, data, ...others } = action ?? {};
  const { number, ...settings } = data ?? {};
  const isPlain = type === "dial" && [others, settings].every((each) => Object.keys(each).length === 0);
  const found = /^agent:(.+)$/.exec(typeof number === "string" ? number : "");
  return isPlain && found ? String(found[1]) : null;
}

/**
 * @param {Route} route
 * @returns {RouteForm}
 */
export function toForm(route) {
  const { kind, name } = describeRoute(route);
  return {
    kind,
    address: kind === "webhook" ? name : null,
    flowId: kind === "flow" ? name : null,
    agentId: kind === "agent" ? name : null,
    tree: kind === "tree" ? written(route.action) : null,
    fallback: written(route.fallback),
    recordCall: typeof route.recordCall === "object" ? Boolean(route.recordCall?.enable) : Boolean(route.recordCall),
    answer: route.answer ?? true,
    allowListeners: Boolean(route.allowListeners),
    labels: Object.entries(route.labels ?? {}).map(([key, value]) => `${key}=${value}`),
    customData: written(route.customData),
    statusCallbackUrl: route.statusCallbackUrl ?? null,
  };
}

/**
 * Return the route, and the fields that cannot be read.
 * @param {RouteForm} form
 * @returns {{route: Route, errors: import("../lib/rest.js").FieldError[]}}
 */
export function fromForm(form) {
  /** @type {import("../lib/rest.js").FieldError[]} */
  const errors = [];
  /**
   * @param {string} path
   * @param {string | null | undefined} text of a field that may not be shown
   */
  const parsed = (path, text) => {
    const given = (text ?? "").trim();
    if (given === "") return undefined;
    try {
      return parse(given);
    } catch {
      errors.push({ path, message: "this is no JSON", code: "invalid" });
      return undefined;
    }
  };
  const { kind } = form;
  /** @type {Route} */
  const route = {
    action: {
      flow: undefined,
      webhook: form.address ?? "",
      agent: { type: "dial", data: { number: `agent:${form.agentId ?? ""}` } },
      tree: kind === "tree" ? parsed("action", form.tree) : undefined,
    }[kind],
    flowId: kind === "flow" ? (form.flowId ?? "") : undefined,
    fallback: parsed("fallback", form.fallback),
    customData: parsed("customData", form.customData),
    recordCall: form.recordCall,
    answer: form.answer,
    allowListeners: form.allowListeners || undefined,
    labels: labelsOf(form.labels, errors),
    statusCallbackUrl: form.statusCallbackUrl ?? undefined,
  };
  const given = Object.entries(route).filter(([, value]) => value !== undefined);
  return { route: Object.fromEntries(given), errors };
}

/**
 * @param {string[]} lines
 * @param {import("../lib/rest.js").FieldError[]} errors
 */
function labelsOf(lines, errors) {
  const pairs = lines.map((each) => each.split("="));
  if (pairs.some((each) => each.length < 2)) {
    errors.push({ path: "labels", message: "expected name=value in each line", code: "invalid" });
  }
  const found = pairs.map(([key = "", ...value]) => [key.trim(), value.join("=").trim()]);
  return found.length ? Object.fromEntries(found) : undefined;
}

/** @param {unknown} value */
function written(value) {
  return value === undefined || value === null ? null : stringify(value, 2);
}
