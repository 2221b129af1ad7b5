"""The ARI client against a real Asterisk: events, requests, outages and generated code."""

import random
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from dev.pbx.find import find_asterisk
from engine.ari import generated
from engine.ari.client import AriClient, open_ari
from engine.ari.config import PbxAddress, Timeouts
from engine.ari.events import UnknownEvent, decode
from engine.ari.generated.events import (
    ChannelDestroyed,
    ChannelDtmfReceived,
    Message,
    StasisEnd,
    StasisStart,
)
from engine.ari.generated.models import Channel
from engine.ari.generated.operations import bridges, channels
from engine.ari.generator.description import read
from engine.ari.generator.write import render
from engine.ari.request import Reply, Request
from tests.harness.ari.fake_pbx import Replies, running
from tests.harness.pbx.asterisk import Pbx
from tests.harness.until import until

TIMEOUTS = Timeouts(refused_retry_s=0.2, max_retry_s=0.2)


class EventRecorder:
    """A listener that records events and connection states."""

    def __init__(self) -> None:
        self.events: list[Message | UnknownEvent] = []
        self.states: list[str] = []

    def on_connected(self) -> None:
        """Record the state."""
        self.states.append("back")

    def on_event(self, event: Message | UnknownEvent) -> None:
        """Record the event."""
        self.events.append(event)

    def on_disconnected(self, reason: str, silent_ms: int) -> None:
        """Record the reason."""
        assert silent_ms >= 0
        self.states.append(reason)

    def on_replaced(self) -> None:
        """Record the state."""
        self.states.append("replaced")

    def of(self, channel_id: str) -> list[str]:
        """Return the event types of a channel, in order."""
        return [
            type(event).__name__
            for event in self.events
            if getattr(getattr(event, "channel", None), "id", "") == channel_id
        ]


@pytest.fixture
async def pbx(tmp_path: Path) -> AsyncIterator[Pbx]:
    """Run a PBX."""
    async with Pbx(tmp_path / "pbx1", slots=1) as node:
        yield node


def address(pbx: Pbx) -> PbxAddress:
    """Return the address and login of a PBX."""
    return PbxAddress(pbx.name, f"{pbx.url}/ari", pbx.ari_user, pbx.ari_password)


@asynccontextmanager
async def client(at: PbxAddress) -> AsyncIterator[AriClient]:
    """Open a client with all its connections."""
    async with (
        open_ari(at, "test", random.Random(7).random, time.monotonic, TIMEOUTS) as ari,
        running(ari.run()),
    ):
        yield ari


async def send(ari: AriClient, request: Request, *, may_block: bool = False) -> Reply:
    """Send a request and wait for its reply."""
    replies = Replies()
    ari.send(request, "call-1", may_block, replies)
    await until(lambda: bool(replies))
    return replies[0]


def call(channel_id: str) -> Request:
    """Return a request for a call with two ends in this app."""
    # The other end of the Local channel comes in as a call from the trunk.
    return channels.originate_with_id(
        channel_id,
        endpoint="Local/15551234567@from-trunk",
        app="switchroom-0",
        app_args="outbound",
        other_channel_id=f"{channel_id}-in",
        variables={"COLOUR": 'green, "or" blue'},
    )


def test_the_generated_client_matches_this_asterisk() -> None:
    """Generated code from the installed description equals the committed files."""
    fresh = render(read(find_asterisk().data_dir / "rest-api"), generated.ASTERISK_VERSION)
    folder = Path(generated.__file__).parent
    kept = {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in folder.rglob("*.py")
    }
    assert kept == fresh


async def test_a_call_from_end_to_end(pbx: Pbx) -> None:
    """Requests over websocket and HTTP work, and events arrive in order."""
    ear = EventRecorder()
    async with client(address(pbx)) as ari, running(ari.events("switchroom-0", ear).run()):
        await until(lambda: ear.states == ["back"] and ari.router.is_ready)
        assert (await ari.version() or "").startswith("22.")
        assert (await send(ari, call("c1"), may_block=True)).ok
        bridge = bridges.create_with_id("b1", type="mixing")
        assert [(await send(ari, bridge)).status for _ in range(2)] == [200, 409]
        await until(lambda: "StasisStart" in ear.of("c1-in"))
        assert (await send(ari, channels.answer("c1-in"))).ok
        await until(lambda: "StasisStart" in ear.of("c1"))
        colour = await send(ari, channels.get_channel_var("c1", variable="COLOUR"))
        assert b'green, \\"or\\" blue' in colour.body
        assert decode(await ari.ask(channels.get("c1")), Channel).state == "Up"
        assert (await send(ari, channels.send_dtmf("c1", dtmf="5"))).ok
        await until(lambda: any(isinstance(one, ChannelDtmfReceived) for one in ear.events))
        assert (await send(ari, channels.hangup("c1", reason_code="21"))).ok
        await until(lambda: "ChannelDestroyed" in ear.of("c1") and "StasisEnd" in ear.of("c1-in"))
        assert ear.of("c1")[-2:] == [StasisEnd.__name__, ChannelDestroyed.__name__]
        ended = [event for event in ear.events if isinstance(event, ChannelDestroyed)]
        assert {event.cause for event in ended if event.channel.id == "c1"} == {21}
        assert (await send(ari, channels.hangup("c1"))).status == 404
        assert not [event for event in ear.events if isinstance(event, UnknownEvent)]


async def test_the_client_reconnects_after_a_pbx_crash(pbx: Pbx) -> None:
    """After a crash and a restart all connections are restored automatically."""
    ear = EventRecorder()
    async with client(address(pbx)) as ari, running(ari.events("switchroom-0", ear).run()):
        await until(lambda: ear.states == ["back"] and ari.router.is_ready)
        await pbx.kill()
        await until(lambda: len(ear.states) == 2 and not ari.router.is_ready)
        assert (await send(ari, channels.list_())).status == 0
        await pbx.start()
        await until(lambda: len(ear.states) == 3 and ari.router.is_ready)
        assert ear.states[2] == "back"
        assert (await send(ari, channels.list_())).body == b"[]"


async def test_a_wrong_password_is_reported(pbx: Pbx) -> None:
    """A refused login is reported as the reason."""
    ear = EventRecorder()
    wrong = replace(address(pbx), password="wrong")  # noqa: S106 - not a real password
    async with client(wrong) as ari, running(ari.events("switchroom-0", ear).run()):
        await until(lambda: ear.states == ["user or password refused (401)"])


async def test_the_newer_session_owns_the_app(pbx: Pbx) -> None:
    """The older session is replaced and ends; its end does not affect the newer one."""
    first, second = EventRecorder(), EventRecorder()
    async with AsyncExitStack() as stack:
        ari = await stack.enter_async_context(client(address(pbx)))
        older = await stack.enter_async_context(running(ari.events("switchroom-0", first).run()))
        await until(lambda: first.states == ["back"])
        await stack.enter_async_context(running(ari.events("switchroom-0", second).run()))
        await until(lambda: older.done() and second.states == ["back"])
        assert first.states == ["back", "replaced"]
        assert (await send(ari, call("c1"))).ok
        await until(lambda: StasisStart.__name__ in second.of("c1-in"))
        assert not first.events
