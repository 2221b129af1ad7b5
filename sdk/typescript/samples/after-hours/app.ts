// After hours: calls ring an agent while the office is open; else callers ask to be called back.

import express from "express";
import { dial, gather, say, Switchroom, type ActionRequest, type Chain } from "switchroom-sdk";
import { Webhooks } from "switchroom-sdk/express";

const AGENT = process.env["AGENT"] ?? "agent:1001";
const [OPENS = 9, CLOSES = 17] = (process.env["HOURS"] ?? "9-17").split("-").map(Number);
const CLOCK = new Intl.DateTimeFormat("en-GB", {
  timeZone: process.env["ZONE"] ?? "UTC",
  weekday: "short",
  hour: "numeric",
  hourCycle: "h23",
});

const app = express();
const webhooks = new Webhooks();
const callers = new Map<string, string>(); // a real application keeps both in a database
const waiting = new Map<string, string>(); // by call: a webhook may be repeated

function isOpen(now: Date): boolean {
  const parts = new Map(CLOCK.formatToParts(now).map((each) => [each.type, each.value]));
  const hour = Number(parts.get("hour"));
  return !["Sat", "Sun"].includes(parts.get("weekday") ?? "") && OPENS <= hour && hour < CLOSES;
}

function offer(call: ActionRequest, text: string): Chain {
  callers.set(call.callId, call.from);
  return gather({
    text: `${text} Press one, and we call you back.`,
    maxDigits: 1,
    action: "/call-back",
    fallback: say("Goodbye."),
  });
}

app.post("/answer", webhooks.onAction((call) =>
  isOpen(new Date())
    ? dial(AGENT, { timeoutS: 20, action: "/after-agent" })
    : offer(call, "We are closed.")
));

app.post("/after-agent", webhooks.onAction((call) =>
  call.dial?.status === "completed"
    ? say("Thank you for calling. Goodbye.")
    : offer(call, "All our agents are busy.")
));

app.post("/call-back", webhooks.onGather(({ callId, dtmf }) => {
  const caller = callers.get(callId);
  if (dtmf !== "1" || !caller) {
    return say("Goodbye.");
  }
  waiting.set(callId, caller);
  return say("Thank you. We will call you back. Goodbye.");
}));

app.get("/waiting", (_request, response) => {
  response.json([...waiting.values()]);
});

// Call the agent, then the caller who has waited longest, and connect them.
app.post("/waiting/next", async (_request, response) => {
  const [next] = waiting;
  if (next === undefined) {
    response.status(404).json({ detail: "no caller waits" });
    return;
  }
  const [key, number] = next;
  const body = { from: AGENT, to: number };
  const { callId } = await new Switchroom().calls.create(body, { idempotencyKey: key });
  waiting.delete(key);
  response.status(201).json({ number, callId });
});

const port = Number(process.env["PORT"] ?? 3000);
app.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}`));
