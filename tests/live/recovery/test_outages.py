"""Outages of a PBX and of the store."""

from functools import partial
from typing import Literal

import pytest
from pytest import approx  # noqa: PT013 - reads as the sentence it is

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.audio import assert_uninterrupted
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.servers.cluster import freeze, thaw
from tests.harness.servers.engine import RequestError
from tests.harness.until import until

AWAY_MS = 3_000  # at least, of the prompt
EDGE_MS = 40  # frames that hold two sounds
LONG_MS = 60_000  # a prompt, until the test ends it


async def test_the_calls_of_a_killed_pbx_are_lost(lab: Lab, sounds: MediaServer) -> None:
    """With a killed PBX originate answers 503 no_node; its calls end as lost after its restart.

    The engine reconnects by itself, and a new call works.
    """
    play = {"type": "play", "data": {"audioUrl": sounds.tone(600, LONG_MS)}}
    async with Phone.answering(lab.trunk_port) as phone:
        lost = await lab.call(to="+15550100", action=play)
        await phone.until_hears(600)
        await lab.pbx.kill()
        refused = await _wait_until_refused(lab)
        assert (refused.status, refused.problem["code"]) == (503, "no_node")
        await phone.disconnect()
    await lab.pbx.start()
    view = await lab.wait_ended(lost)
    assert (view["status"], view["reason"]) == ("completed", "lost")
    await until(lab.engine.is_ready, what="the engine to be ready again")
    async with Phone.answering(lab.trunk_port) as phone:
        await lab.call(to="+15550100", action=play)
        await phone.until_hears(600)
        await phone.hang_up()


async def test_a_prompt_continues_without_the_store(
    lab: Lab, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """Without the store a prompt continues and new calls get 503; then a key continues the tree."""
    data = {"audioUrl": sounds.tone(600, LONG_MS), "maxDigits": 1}
    action = {"type": "gather", "data": data, "action": hooks.answers("/after", None)}
    async with Phone.answering(lab.trunk_port) as phone, Phone.refusing(free_port(), 486) as busy:
        call = await lab.call(to="+15550100", action=action)
        await phone.until_hears(600)
        await lab.valkey.stop()
        heard_ms = phone.heard_ms(600)
        assert (await _wait_until_refused(lab, busy.address)).status == 503
        await until(
            lambda: phone.heard_ms(600) - heard_ms > AWAY_MS,
            every_s=0.2,
            what="the prompt to go on",
        )
        await lab.valkey.start()
        await phone.press("1")
        assert (await hooks.wait_for_request("/after")).body["dtmf"] == "1"
        await phone.wait_ended()
        assert_uninterrupted(phone.tones_heard(600))
        # A call that was refused before the outage was noticed may be made now: `busy` ends it.
        await lab.wait_empty()
    assert (await lab.wait_ended(call))["status"] == "completed"


@pytest.mark.parametrize("server", ["pbx", "valkey"])
async def test_no_prompt_is_lost_while_a_server_stands_still(
    lab: Lab, sounds: MediaServer, server: Literal["pbx", "valkey"]
) -> None:
    """Prompts that were due meanwhile are heard after it, each once and whole."""
    lengths_ms = {600: 1_500, 700: 700, 1000: 700}
    action: dict[str, object] = {"type": "hangup", "data": {}}
    for hz, length_ms in reversed(lengths_ms.items()):
        data = {"audioUrl": sounds.tone(hz, length_ms)}
        action = {"type": "play", "data": data, "action": action}
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=action)
        await phone.until_hears(600)
        suspended = lab.pbx if server == "pbx" else lab.valkey
        freeze(suspended)
        try:
            await until(lambda: not phone.hears(600), what="silence")
            await until(partial(_is_noticed, lab, call), what="the engine to notice it")
        finally:
            thaw(suspended)
        await phone.wait_ended()
    heard_ms = {hz: phone.heard_ms(hz) for hz in lengths_ms}
    assert heard_ms == {hz: approx(ms, abs=EDGE_MS) for hz, ms in lengths_ms.items()}
    assert (await lab.wait_ended(call))["status"] == "completed"


async def _is_noticed(lab: Lab, call: str) -> bool:
    """Return whether the call's shard has no PBX, or cannot store."""
    slot, node, _ = call.split("-")
    (engine,) = (await lab.engine.rpc("GET", "/engines"))["engines"]
    (shard,) = (each for each in engine["shards"] if each["shard"] == f"{node}/{slot}")
    return bool(shard.get("isPaused") or not shard.get("canStore", True))


async def _wait_until_refused(lab: Lab, to: str = "+15559999") -> RequestError:
    """Request calls until one is refused."""
    refusals: list[RequestError] = []

    async def is_refused() -> bool:
        try:
            await lab.call(to=to, action={"type": "hangup", "data": {}})
        except RequestError as refused:
            refusals.append(refused)
        return bool(refusals)

    await until(is_refused, what="a refusal")
    return refusals[0]
