"""Digits pressed while no engine owns the call: the gather gets each of them once.

The next owner adds the digits that engines have read over AMI.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from engine.calls.recovery.missed_digits import ARI_DELAY_MS
from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.pbx.ended_keys import ended_keys
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.servers.cluster import Cluster, freeze, thaw
from tests.harness.servers.tcp_proxy import TcpProxy
from tests.harness.until import until

TIMEOUTS = {"timeout": 300_000, "digitTimeout": 300_000}
LONG_LEASE = {"SWITCHROOM_LEASE_S": "8"}  # longer than the first key takes without an owner


class TypingCall(Struct, frozen=True):
    """A gathering call whose first digit is stored, and its phone."""

    call: str
    phone: Phone


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    """Run two engines on one PBX; nothing may be left on it afterwards."""
    made = Cluster(tmp_path, engines=0)
    for _ in range(2):
        made.add_engine(LONG_LEASE)
    async with made:
        yield made
        for lab in made.labs:
            thaw(lab.engine)
        await made.wait_empty()


@asynccontextmanager
async def typing_call(lab: Lab, hooks: WebhookServer, keys: int) -> AsyncIterator[TypingCall]:
    """Start a gather of `keys` digits and press the first one."""
    data = {"maxDigits": keys, **TIMEOUTS}
    action = {"type": "gather", "data": data, "action": hooks.answers("/result", None)}
    async with Phone.answering(free_port()) as phone:
        call = await lab.call(to=phone.address, action=action)
        await lab.wait_for_state(call, "gathering")
        await phone.press("1")
        await wait_for_digits(lab, call, "1")
        yield TypingCall(call, phone)


async def wait_for_digits(lab: Lab, call: str, digits: str) -> None:
    """Wait until a call has stored exactly these digits."""

    async def are_stored() -> bool:
        return "".join(each["digit"] for each in await pressed(lab, call)) == digits

    await until(are_stored, what=f"{digits} to be stored")


async def pressed(lab: Lab, call: str) -> list[dict[str, Any]]:
    """Return the events of a call's digits; those that an engine has read over AMI are `missed`."""
    return [each for each in await lab.timeline_events(call) if each["type"] == "digit-pressed"]


async def kill(lab: Lab) -> None:
    """Kill the engine."""
    await lab.engine.kill()


async def freeze_engine(lab: Lab) -> None:
    """Suspend the engine for longer than its lease."""
    freeze(lab.engine)


@pytest.mark.parametrize("leave", [kill, freeze_engine])
async def test_digits_without_an_owner_are_collected(
    cluster: Cluster, hooks: WebhookServer, leave: Callable[[Lab], Awaitable[None]]
) -> None:
    """The next owner reads them over AMI, and adds them to the digits before and after."""
    leaving, staying = cluster.labs
    async with typing_call(leaving, hooks, 8) as typing:
        await leave(leaving)
        await typing.phone.press("1223")
        await wait_for_digits(staying, typing.call, "11223")
        assert (await pressed(staying, typing.call))[1]["missed"]
        await typing.phone.press("334")
        result = await hooks.wait_for_request("/result")
        await typing.phone.wait_ended()
    assert (result.body["dtmf"], result.body["reason"]) == ("11223334", "max-digits")
    assert len(hooks.requests_to("/result")) == 1


async def test_the_last_digit_without_an_owner_ends_the_gather(
    cluster: Cluster, hooks: WebhookServer
) -> None:
    """The gather ends without another key."""
    leaving, staying = cluster.labs
    async with typing_call(leaving, hooks, 4) as typing:
        await leaving.engine.kill()
        await typing.phone.press("234")
        result = await hooks.wait_for_request("/result")
        await typing.phone.wait_ended()
    assert result.body["dtmf"] == "1234"
    assert len(hooks.requests_to("/result")) == 1
    assert (await staying.wait_ended(typing.call))["status"] == "completed"


async def test_digits_during_a_handover_are_collected_once(
    cluster: Cluster, hooks: WebhookServer
) -> None:
    """SIGTERM during continuous typing: each digit counts once, in order."""
    leaving, _stays = cluster.labs
    keys = "1234567890" * 3
    async with typing_call(leaving, hooks, 31) as typing:
        pressing = asyncio.create_task(typing.phone.press(keys))
        await until(lambda: len(typing.phone.presses) > 5, what="some keys")
        await leaving.engine.stop()
        await pressing
        result = await hooks.wait_for_request("/result")
        await typing.phone.wait_ended()
    assert result.body["dtmf"] == f"1{keys}"


async def test_digits_after_a_missed_prompt_end_are_collected(
    cluster: Cluster, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """The end of the prompt is missed, too; digits count for the gather after it."""
    leaving, _stays = cluster.labs
    data = {"maxDigits": 2, **TIMEOUTS}
    gather = {"type": "gather", "data": data, "action": hooks.answers("/result", None)}
    play = {"type": "play", "data": {"audioUrl": sounds.tone(600, 2_000)}, "action": gather}
    async with Phone.answering(free_port()) as phone:
        await leaving.call(to=phone.address, action=play)
        await phone.until_hears(600)
        await leaving.engine.kill()
        await until(lambda: not phone.hears(600), what="the prompt's end")
        await phone.press("12")
        result = await hooks.wait_for_request("/result")
        await phone.wait_ended()
    assert result.body["dtmf"] == "12"


async def test_digits_during_an_ari_outage_are_read_over_ami(
    tmp_path: Path, hooks: WebhookServer
) -> None:
    """A single engine without ARI events reads the digits over AMI."""
    cluster = Cluster(tmp_path, engines=0)
    async with TcpProxy(cluster.nodes[0].ports.ari) as proxy:
        lab = cluster.add_engine(proxies=[proxy])
        async with cluster, typing_call(lab, hooks, 6) as typing:
            proxy.cut()
            await typing.phone.press("2233")
            await until(
                lambda: "node disconnected" in lab.engine.log.read_text(),
                what="the disconnect to be logged",
            )
            await typing.phone.press("4")
            proxy.restore()
            await wait_for_digits(lab, typing.call, "122334")
            result = await hooks.wait_for_request("/result")
            await typing.phone.wait_ended()
            await cluster.wait_empty()
    assert result.body["dtmf"] == "122334"


async def test_digits_before_a_hold_in_an_outage_are_collected_once(
    tmp_path: Path, hooks: WebhookServer
) -> None:
    """The outage is not yet detected: digits before the hold count once."""
    cluster = Cluster(tmp_path, engines=0)
    async with TcpProxy(cluster.nodes[0].ports.ari) as proxy:
        lab = cluster.add_engine(proxies=[proxy])
        async with cluster, typing_call(lab, hooks, 4) as typing:
            on_leg = {"channelId": (await lab.engine.call(typing.call))["legs"][0]["channelId"]}
            async with ended_keys(lab.pbx) as keys:
                proxy.cut()
                await typing.phone.press("22")
                await until(lambda: keys == ["2", "2"], what="AMI to report the keys")
                await typing.phone.wait_spoken(2 * ARI_DELAY_MS)  # ARI may report them until then
            await lab.engine.rpc("POST", f"/calls/{typing.call}/hold", on_leg)
            await wait_for_digits(lab, typing.call, "122")
            proxy.restore()
            await lab.engine.rpc("POST", f"/calls/{typing.call}/unhold", on_leg)
            await typing.phone.press("3")
            result = await hooks.wait_for_request("/result")
            await typing.phone.wait_ended()
            await cluster.wait_empty()
    assert result.body["dtmf"] == "1223"
