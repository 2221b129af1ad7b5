// A program with the types of the REST document: a call is created, and its details are read.
import type { components, operations, paths, webhooks } from "./rest";

type Schemas = components["schemas"];
type Body<T extends { requestBody?: { content: unknown } }> =
  NonNullable<T["requestBody"]>["content"] extends { "application/json": infer B } ? B : never;
type Result<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { "application/json": infer R } } } };
} ? R : never;

const menu: Schemas["Gather"] = {
  type: "gather",
  data: { text: "Press one.", maxDigits: 1 },
  action: "https://example.com/menu",
};
export const call: Body<operations["calls.create"]> = {
  from: "+4721930000",
  to: "+4722222222",
  action: menu,
};
export const mute: Body<operations["calls.mute"]> = { channelId: "c1.l0", direction: "in" };
// @ts-expect-error: no such direction
export const wrong: Body<operations["calls.mute"]> = { channelId: "c1.l0", direction: "sideways" };
export const mode: Schemas["TransferMode"] = "attended";

export function parties(page: Result<"/srmain/voice/calls">): string[] {
  return page.data.map((each) => each.callId);
}

export function verb(
  action: webhooks["action"]["post"]["responses"][200]["content"]["application/json"],
): string {
  switch (action.type) {
    case "say":
      return action.data.text;
    case "dial":
      return [action.data.number ?? []].flat().join(",");
    default:
      return action.type;
  }
}

export function reason(problem: Schemas["Problem"]): string {
  return problem.errors?.[0]?.message ?? problem.detail ?? problem.title;
}
