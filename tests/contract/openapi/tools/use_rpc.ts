// A program with the types of the RPC document: a call is started, and a leg of it is held.
import type { components, operations } from "./rpc";

type Json<T> = T extends { content: { "application/json": infer B } } ? B : never;

export const call: Json<operations["calls.create"]["requestBody"]> = {
  account: "acme",
  from: "+4721930000",
  to: "+4722222222",
};
export const leg: Json<operations["calls.hold"]["requestBody"]> = { channelId: "c1.l0" };

export function legs(view: Json<operations["calls.get"]["responses"][200]>): string[] {
  return view.legs.map((each: components["schemas"]["LegView"]) => each.channelId);
}
