"""One account floods its calls: another one's call is as it would be alone."""

import asyncio
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from msgspec import Struct
from pytest import approx  # noqa: PT013 - reads as the sentence it is

from tests.harness.customers.bot_server import Bot, BotServer
from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.metrics_page import figures
from tests.harness.phones.audio import ToneSpan, packets_lost
from tests.harness.phones.phone import Phone
from tests.harness.store.long_logs import are_compressed, end_calls, put_long_calls
from tests.harness.until import until
from tests.live.streams.test_conversation import stream

FLOOD_MARKS = 600  # in ten seconds: what a gateway accepts
LONG_CALLS, LINES = 4, 150_000  # each of an hour of such marks, or so
HZ = (500, 700, 900, 1_100)
PROMPT_MS = 500
PROMPTS_ALONE, PROMPTS = 4, 16  # the engine looks for calls to compress every five seconds
EDGE_MS = 40


class Visit(Struct, frozen=True):
    """What a caller has heard, and the id of the call."""

    call: str
    heard: Sequence[ToneSpan]

    @property
    def longest_gap_ms(self) -> float:
        return max(after.start_ms - before.end_ms for before, after in pairwise(self.heard))


async def flood(bot: Bot) -> None:
    """Send as many marks as a bot may, and wait until all are heard."""
    for number in range(FLOOD_MARKS):
        await bot.mark(f"mark {number}")
    await bot.wait_for("mark", FLOOD_MARKS)


async def visit(lab: Lab, hooks: WebhookServer, sounds: MediaServer, prompts: int) -> Visit:
    """Let a caller hear short prompts and press keys; check that nothing is missed."""
    path = f"/after{prompts}"
    action: object = {
        "type": "gather",
        "data": {"maxDigits": 4},
        "action": hooks.answers(path, {"type": "hangup"}),
    }
    hertz = [HZ[number % len(HZ)] for number in range(prompts)]
    for hz in reversed(hertz):
        data = {"audioUrl": sounds.tone(hz, PROMPT_MS)}
        action = {"type": "play", "data": data, "action": action}
    async with Phone.calling(lab.pbx, await lab.add_number(action)) as caller:
        call = await call_of_acme(lab)
        await lab.wait_for_state(call, "gathering")
        await caller.press("1234")
        result = await hooks.wait_for_request(path)
        await caller.wait_ended()
    assert result.body["dtmf"] == "1234"
    heard = caller.tones_heard(*HZ)
    assert [each.hz for each in heard] == hertz
    assert [each.length_ms for each in heard] == [approx(PROMPT_MS, abs=EDGE_MS)] * prompts
    assert packets_lost(caller.frames) == 0
    return Visit(call, heard)


async def call_of_acme(lab: Lab) -> str:
    """Wait for the call of the account that floods nothing; return its id."""
    found: list[str] = []

    async def is_there() -> bool:
        calls = (await lab.engine.rpc("GET", "/calls?account=acme"))["calls"]
        found[:] = [each["callId"] for each in calls]
        return len(found) == 1

    await until(is_there, what="the call of acme")
    return found[0]


async def lost_leases(lab: Lab) -> float:
    """Return how often a lease was lost, or in doubt."""
    found = await figures(lab.engine)
    return sum(
        value
        for (name, labels), value in found.items()
        if name == "switchroom_shard_changes_total" and dict(labels)["change"] in {"lost", "paused"}
    )


async def test_a_flood_disturbs_no_other_account(
    lab: Lab, bots: BotServer, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """Marks at the limit, while calls with the longest logs are compressed.

    Another caller hears each prompt once and in full, one after the other as without the flood,
    and keys reach the webhook; no lease is lost, and a long call can be replayed.
    """
    url, node = lab.valkey.url, lab.pbx.name
    names = await put_long_calls(url, node, LONG_CALLS, LINES)
    alone, before = await visit(lab, hooks, sounds, PROMPTS_ALONE), await lost_leases(lab)
    async with Phone.answering(lab.trunk_port) as flooded:
        await lab.call(account="noisy", to="+15550100", action=stream(bots.url("/bot")))
        bot = await bots.wait_for_bot()
        await end_calls(url, node, names)
        flooding = asyncio.create_task(flood(bot))
        flooded_visit = await visit(lab, hooks, sounds, PROMPTS)
        await flooding
        await until(partial(are_compressed, url, node, names), what="all logs to be compressed")
        await bot.close()
        await flooded.wait_ended()
    assert flooded_visit.longest_gap_ms < alone.longest_gap_ms + PROMPT_MS
    record = (await lab.engine.wait_for_event(flooded_visit.call, "completed"))["record"]
    assert record.get("takeovers", []) == []
    assert await lost_leases(lab) == before
    audit = await lab.engine.rpc("GET", f"/calls/{names[0]}/replay?events=false")
    assert (audit["isSame"], audit["lines"]) == (True, LINES + 9)
