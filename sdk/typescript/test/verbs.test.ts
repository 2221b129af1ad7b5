// Trees that the SDK builds: those of the examples, which the engine accepts.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { ChainEnded, dial, flow, gather, pause, play, record, RelativeAddress, say } from "switchroom-sdk";

const EXAMPLES = new URL("../../../../docs/examples/", import.meta.url);
const BASE = "https://example.com";

async function example(name: string): Promise<unknown> {
  return JSON.parse(await readFile(new URL(name, EXAMPLES), "utf8")).action;
}

test("an IVR is that of the examples", async () => {
  const menu = say("Press one for sales.").gather({
    maxDigits: 1,
    timeoutMs: 5000,
    digitTimeoutMs: 2000,
    action: "/menu",
  });
  assert.deepEqual(menu.toVerb(BASE), await example("ivr.json"));
});

test("a hunt is that of the examples", async () => {
  const hunt = say("One moment, please.")
    .dial(["+4733333331", "+4733333332"], { moh: true, timeoutS: 20 })
    .say("Thank you for calling. Goodbye.");
  const expected = (await example("hunt.json")) as { action: { action: { action?: unknown } } };
  delete expected.action.action.action; // hangup, which is what follows anyway
  assert.deepEqual(JSON.parse(JSON.stringify(hunt)), expected);
});

test("a screened dial is that of the examples", async () => {
  const screened = dial(["+4733333331", "+4733333332"], {
    whisper: say("A customer who has been called back."),
    confirm: { digit: "1", text: "Press one to take the call." },
    timeoutS: 20,
  });
  assert.deepEqual(JSON.parse(JSON.stringify(screened)), await example("screened.json"));
});

test("each verb has its fields", () => {
  const chain = play(["https://example.com/a.wav"], { loop: 2, onError: say("Sorry.") })
    .record({ text: "Speak.", maxLengthS: 60, silenceS: 0, beep: false })
    .pause(0.5)
    .flow("support", { agent_id: "sales7" })
    .hangup({ reason: "busy" });
  assert.deepEqual(chain.toVerb(), {
    type: "play",
    data: { audioUrl: ["https://example.com/a.wav"], loop: 2 },
    onError: { type: "say", data: { text: "Sorry." } },
    action: {
      type: "record",
      data: { text: "Speak.", maxLength: 60, silence: 0, beep: false },
      action: {
        type: "pause",
        data: { length: 0.5 },
        action: {
          type: "flow",
          data: { flowId: "support", agent_id: "sales7" },
          action: { type: "hangup", data: { reason: "busy" } },
        },
      },
    },
  });
});

test("addresses at your own server need a base, also in branches", () => {
  const menu = gather({ audioUrl: "/menu.wav", fallback: play("/bye.wav"), action: "/menu" });
  assert.throws(() => JSON.stringify(menu), RelativeAddress);
  const text = JSON.stringify(menu.toVerb("https://example.com/app/"));
  for (const path of ["menu.wav", "bye.wav", "menu"]) {
    assert.ok(text.includes(`"https://example.com/app/${path}"`), path);
  }
});

test("an address follows its base as it is", () => {
  for (const address of ["/agent:1001", "/menu:start?x=1", "/a//b", "//evil.example/x"]) {
    assert.equal(gather({ action: address }).toVerb(BASE).action, BASE + address);
  }
});

test("nothing follows a webhook, and a chain is a value", () => {
  assert.throws(() => gather({ action: "/menu" }).hangup(), ChainEnded);
  const first = say("Hello.");
  first.hangup();
  assert.deepEqual(first.toVerb(), { type: "say", data: { text: "Hello." } });
});

test("a chain is no promise", async () => {
  const returned = await (async () => flow("support").andThen(pause(1)))();
  assert.equal(returned.toVerb().type, "flow");
  assert.equal(record().toVerb().type, "record");
});
