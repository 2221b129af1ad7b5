// A survey: two questions with answers from one to five; GET /results shows the averages.

import express from "express";
import { gather, say, type Chain } from "switchroom-sdk";
import { Webhooks } from "switchroom-sdk/express";

const QUESTIONS = [
  "How satisfied are you with our service, from one to five?",
  "Would you recommend us to a friend, from one to five?",
];

const app = express();
const webhooks = new Webhooks();
// By question and call: a webhook may be repeated. A real application keeps them in a database.
const marks = QUESTIONS.map(() => new Map<string, number>());

function question(index: number): Chain {
  const text = QUESTIONS[index] ?? "";
  return gather({ text, maxDigits: 1, action: `/marks/${index}`, fallback: say("Goodbye.") });
}

app.post("/answer", webhooks.onAction(() =>
  say("Thank you for taking part. Please press a digit after each question.").andThen(question(0))
));

QUESTIONS.forEach((_text, index) => {
  app.post(`/marks/${index}`, webhooks.onGather(({ callId, dtmf }) => {
    if (!/^[1-5]$/.test(dtmf)) {
      return say("Please press a digit from one to five.").andThen(question(index));
    }
    marks[index]?.set(callId, Number(dtmf));
    return index + 1 < QUESTIONS.length ? question(index + 1) : say("Thank you. Goodbye.");
  }));
});

app.get("/results", (_request, response) => {
  response.json(QUESTIONS.map((text, index) => {
    const given = [...(marks[index]?.values() ?? [])];
    const sum = given.reduce((total, mark) => total + mark, 0);
    const average = given.length > 0 ? sum / given.length : null;
    return { question: text, answers: given.length, average };
  }));
});

const port = Number(process.env["PORT"] ?? 3000);
app.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}`));
