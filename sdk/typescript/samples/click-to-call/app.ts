// Click to call: a page that calls an agent, then the number that you enter, and connects both.

import { readFile } from "node:fs/promises";
import express, { type NextFunction, type Request, type Response } from "express";
import { ApiError, InvalidField, Switchroom } from "switchroom-sdk";

const AGENT = process.env["AGENT"] ?? "agent:1001";
const PAGE = await readFile(new URL("../page.html", import.meta.url), "utf8");

const app = express();
const switchroom = new Switchroom();
app.use(express.json());

app.get("/", (_request, response) => {
  response.type("html").send(PAGE);
});

app.post("/calls", async (request, response) => {
  const to = String(request.body?.number ?? "");
  const { callId } = await switchroom.calls.create({ from: AGENT, to });
  response.status(201).json({ callId });
});

app.get("/calls/:callId", async (request, response) => {
  const { status } = await switchroom.calls.get(request.params.callId);
  response.json({ status });
});

app.use((error: unknown, _request: Request, response: Response, next: NextFunction) => {
  if (error instanceof ApiError) {
    response.status(error.status).json({ detail: error.message });
  } else if (error instanceof InvalidField) {
    response.status(404).json({ detail: "no such call" }); // such as `..`, which is no id
  } else {
    next(error);
  }
});

const port = Number(process.env["PORT"] ?? 3000);
app.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}`));
