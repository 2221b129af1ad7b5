// Voicemail: callers leave a message, and GET /messages lists them.

import express from "express";
import { record, say } from "switchroom-sdk";
import { Webhooks } from "switchroom-sdk/express";

interface Message {
  from: string;
  url: string | null | undefined;
  seconds: number | null | undefined;
}

const app = express();
const webhooks = new Webhooks();
const callers = new Map<string, string>(); // a real application keeps both in a database
const messages = new Map<string, Message>(); // by call: a webhook may be repeated

app.post("/answer", webhooks.onAction((call) => {
  callers.set(call.callId, call.from);
  const text = "Please leave a message after the tone, and press the hash key when you are done.";
  return record({ text, maxLengthS: 120, silenceS: 5, action: "/recorded" });
}));

app.post("/recorded", webhooks.onRecord((result) => {
  const from = callers.get(result.callId) ?? "";
  messages.set(result.callId, { from, url: result.recordingUrl, seconds: result.duration });
  return say("Thank you. Goodbye.");
}));

app.get("/messages", (_request, response) => {
  response.json([...messages.values()]);
});

const port = Number(process.env["PORT"] ?? 3000);
app.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}`));
