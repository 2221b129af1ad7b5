// An IVR: one for sales, two for the opening hours; what is neither is repeated.

import express from "express";
import { gather, say, type Chain } from "switchroom-sdk";
import { Webhooks } from "switchroom-sdk/express";

const SALES = process.env["SALES"] ?? "agent:1001";
const HOURS = "We are open from nine to five, Monday to Friday.";

const app = express();
const webhooks = new Webhooks();

function menu(): Chain {
  const text = "Press one for sales, or two for our opening hours.";
  return gather({ text, maxDigits: 1, action: "/menu", fallback: say("Goodbye.") });
}

app.post("/answer", webhooks.onAction(() => say("Welcome.").andThen(menu())));

app.post("/menu", webhooks.onGather(({ dtmf }) => {
  switch (dtmf) {
    case "1":
      return say("One moment, please.").dial(SALES, { timeoutS: 20, action: "/after-sales" });
    case "2":
      return say(HOURS).andThen(menu());
    default:
      return say("Please press one or two.").andThen(menu());
  }
}));

app.post("/after-sales", webhooks.onAction(({ dial }) => {
  const isDone = dial?.status === "completed";
  return say(isDone ? "Thank you for calling. Goodbye." : "All our agents are busy. Goodbye.");
}));

const port = Number(process.env["PORT"] ?? 3000);
app.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}`));
