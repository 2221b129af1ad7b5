"""Keys that are pressed while no engine holds the call: the gather has each of them, once.

What the others hear over AMI is added to what the call had when it is taken up.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec import Struct

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.monotonic import now_ms
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.servers.cluster import Cluster, freeze, thaw
from tests.harness.servers.tcp_proxy import TcpProxy
from tests.harness.until import until

KEY_REPORT_MS = 150  # a key is ARI's to tell for 50 ms (calls.keys.SOON_MS), and AMI's 30 ms later
TIMEOUTS = {"timeout": 20_000, "digitTimeout": 20_000}


class TypingCall(Struct, frozen=True):
    """A call that gathers, whose first key is stored, and its phone."""

    call: str
    phone: Phone

    @property
    def slot(self) -> int:
        """Whose the call is."""
        return int(self.call.partition("-")[0])


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    """Give two engines at one PBX; afterwards nothing may be left on it."""
    async with Cluster(tmp_path) as made:
        yield made
        for lab in made.labs:
            thaw(lab.engine)
        await made.wait_empty()


@asynccontextmanager
async def typing_call(lab: Lab, hooks: WebhookServer, keys: int) -> AsyncIterator[TypingCall]:
    """Let somebody type the first of so many keys."""
    data = {"maxDigits": keys, **TIMEOUTS}
    action = {"type": "gather", "data": data, "action": hooks.answers("/result", None)}
    async with Phone.answering(free_port()) as phone:
        call = await lab.call(to=phone.address, action=action)
        await lab.wait_for_state(call, "gathering")
        await phone.press("1")
        await wait_for_digits(lab, call, "1")
        yield TypingCall(call, phone)


async def wait_for_digits(lab: Lab, call: str, digits: str) -> None:
    """Wait until a call has taken these keys and no others."""

    async def is_so() -> bool:
        story = await lab.timeline_events(call)
        return "".join(each["digit"] for each in story if each["type"] == "digit-pressed") == digits

    await until(is_so, what=f"{digits} to be stored")


async def kill(lab: Lab) -> None:
    """Die."""
    await lab.engine.kill()


async def freeze_engine(lab: Lab) -> None:
    """Sleep past the end of the lease."""
    freeze(lab.engine)


@pytest.mark.parametrize("leave", [kill, freeze_engine])
async def test_digits_without_an_owner_are_collected(
    cluster: Cluster, hooks: WebhookServer, leave: Callable[[Lab], Awaitable[None]]
) -> None:
    """The one who takes the call up has heard them; those before and after are there, too."""
    leaving, staying = cluster.labs
    async with typing_call(leaving, hooks, 8) as typist:
        await leave(leaving)
        await typist.phone.press("1223")
        assert (await cluster.owners()).get(typist.slot) != staying.engine.pid
        await wait_for_digits(staying, typist.call, "11223")
        await typist.phone.press("334")
        result = await hooks.wait_for_request("/result")
        await typist.phone.wait_ended()
    assert (result.body["dtmf"], result.body["reason"]) == ("11223334", "max-digits")
    assert len(hooks.requests_to("/result")) == 1


async def test_the_last_digit_without_an_owner_ends_the_gather(
    cluster: Cluster, hooks: WebhookServer
) -> None:
    """Nothing more need be pressed when the call is taken up."""
    leaving, staying = cluster.labs
    async with typing_call(leaving, hooks, 4) as typist:
        await leaving.engine.kill()
        await typist.phone.press("234")
        result = await hooks.wait_for_request("/result")
        await typist.phone.wait_ended()
    assert result.body["dtmf"] == "1234"
    assert len(hooks.requests_to("/result")) == 1
    assert (await staying.wait_ended(typist.call))["status"] == "completed"


async def test_digits_during_a_handover_are_collected_once(
    cluster: Cluster, hooks: WebhookServer
) -> None:
    """SIGTERM amid keys that are pressed one after another: each is told once, in order."""
    leaving, _stays = cluster.labs
    keys = "1234567890" * 3
    async with typing_call(leaving, hooks, 31) as typist:
        pressing = asyncio.create_task(typist.phone.press(keys))
        await until(lambda: len(typist.phone.presses) > 5, what="some keys")
        await leaving.engine.stop()
        await pressing
        result = await hooks.wait_for_request("/result")
        await typist.phone.wait_ended()
    assert result.body["dtmf"] == f"1{keys}"


async def test_digits_after_a_missed_prompt_end_are_collected(
    cluster: Cluster, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """The prompt's end is missed, too: the key counts for the gather that would have begun."""
    leaving, _stays = cluster.labs
    gather = {"type": "gather", "data": {"maxDigits": 2}, "action": hooks.answers("/result", None)}
    play = {"type": "play", "data": {"audioUrl": sounds.tone(600, 700)}, "action": gather}
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
    """An engine alone that hears nothing over ARI for a while hears them over AMI."""
    cluster = Cluster(tmp_path, engines=0)
    async with TcpProxy(cluster.nodes[0].ports.ari) as proxy:
        lab = cluster.add_engine(proxies=[proxy])
        async with cluster, typing_call(lab, hooks, 6) as typist:
            proxy.cut()
            await typist.phone.press("2233")
            await until(
                lambda: "node disconnected" in lab.engine.log.read_text(),
                timeout_s=20,
                what="it to notice",
            )
            await typist.phone.press("4")
            proxy.restore()
            await wait_for_digits(lab, typist.call, "122334")
            result = await hooks.wait_for_request("/result")
            await typist.phone.wait_ended()
            await cluster.wait_empty()
    assert result.body["dtmf"] == "122334"


async def test_digits_before_a_hold_in_an_outage_are_collected_once(
    tmp_path: Path, hooks: WebhookServer
) -> None:
    """Nobody knows yet that the websocket is cut: what was pressed before the hold counts, once."""
    cluster = Cluster(tmp_path, engines=0)
    async with TcpProxy(cluster.nodes[0].ports.ari) as proxy:
        lab = cluster.add_engine(proxies=[proxy])
        async with cluster, typing_call(lab, hooks, 4) as typist:
            on_leg = {"channelId": (await lab.engine.call(typist.call))["legs"][0]["channelId"]}
            proxy.cut()
            *_, last = await typist.phone.press("22")
            await until(
                lambda: now_ms() - last.up_ms > KEY_REPORT_MS, what="AMI to have told the keys"
            )
            await lab.engine.rpc("POST", f"/calls/{typist.call}/hold", on_leg)
            await wait_for_digits(lab, typist.call, "122")
            proxy.restore()
            await lab.engine.rpc("POST", f"/calls/{typist.call}/unhold", on_leg)
            await typist.phone.press("3")
            result = await hooks.wait_for_request("/result")
            await typist.phone.wait_ended()
            await cluster.wait_empty()
    assert result.body["dtmf"] == "1223"
