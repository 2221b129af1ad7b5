"""The time of streams, their connections, and their end with the gateway, in virtual time."""

import asyncio

import pytest
from picows import WSCloseCode, WSHandshakeError
from structlog.testing import capture_logs

from streams.bots.dialer import CONNECT_S
from streams.control.reports import SETTLE_S, ReportHub
from streams.control.service import FORGET_TICKS, MAX_PBX_HANDSHAKES, TICK_S
from streams.control.table import KEPT_ENDED_MS, NoRoom
from tests.harness.virtual_time import virtual_time
from tests.unit.streams.control.service_scene import BOT, PBX, Scene
from tests.unit.streams.recording_links import RecordingBot
from tests.unit.streams.scripted_handshake import ScriptedHandshake
from wire.streams.reports import Snapshot


@virtual_time
async def test_a_fault_ends_its_stream_and_no_other() -> None:
    """The engine learns of it."""
    scene = Scene()
    failing, other = scene.add("failing"), scene.add("other")
    failing.fails = True
    async with scene.running():
        await asyncio.sleep(TICK_S * 10.5)
    (ended,) = scene.ended()
    assert (ended.stream, ended.reason) == ("failing", "bot-lost")
    assert other.ticks == 10


@virtual_time
async def test_old_streams_are_forgotten_now_and_then() -> None:
    """Each is known for ten minutes, and some seconds more."""
    scene = Scene()
    scene.add("a").end("stopped")
    every_s = FORGET_TICKS * TICK_S
    async with scene.running():
        await asyncio.sleep(KEPT_ENDED_MS / 1_000 - every_s / 2)
        assert len(scene.ended()) == 1
        await asyncio.sleep(2 * every_s)
        assert scene.ended() == []
    assert scene.table.cleanings == (KEPT_ENDED_MS / 1_000 + 1.5 * every_s) // every_s


@virtual_time
async def test_a_stop_ends_a_stream_and_then_forgets_it() -> None:
    """An engine requests it again when it has read the end."""
    scene = Scene()
    scene.add("a")
    scene.service.stop("a")
    assert [each.reason for each in scene.ended()] == ["stopped"]
    scene.service.stop("a")
    assert scene.ended() == []


@pytest.mark.parametrize(("ends_s", "reason"), [(1.0, "stopped"), (3.0, "drained")])
@virtual_time
async def test_a_gateway_that_stops_waits_for_its_streams(ends_s: float, reason: str) -> None:
    """It takes no more of them, and ends those that last too long."""
    scene = Scene()
    stream = scene.add("a")
    asyncio.get_running_loop().call_later(ends_s, stream.end, "stopped")
    draining = asyncio.create_task(scene.service.drain(2.0))
    await asyncio.sleep(0.5)
    with pytest.raises(NoRoom):
        scene.table.check_room("acme")
    await draining
    assert [each.reason for each in scene.ended()] == [reason]
    assert asyncio.get_running_loop().time() == min(ends_s, 2.0)


@virtual_time
async def test_both_ends_of_a_stream_are_connected() -> None:
    """Each is greeted, the stream is counted once, and its end closes both: first the bot."""
    scene = Scene()
    assert scene.service.set_up("a", scene.setup())
    assert not scene.service.set_up("a", scene.setup())
    await asyncio.sleep(0.1)
    pbx, bot = scene.network.at[PBX], scene.network.at[BOT]
    assert pbx.options["ssl_context"] is scene.trust
    assert bot.options["extra_headers"]["Sec-WebSocket-Protocol"] == "switchroom"
    (greeting,) = [data for _, data in bot.connection.sent]
    assert b'"event":"start"' in greeting
    assert dict(scene.metrics.started) == {("native",): 1}
    queue = scene.hub.subscribe(Snapshot((), ()))
    scene.service.stop("a")
    assert bot.connection.sent[-2:] == [WSCloseCode.OK, "disconnect"]
    await asyncio.sleep(SETTLE_S - TICK_S)
    assert pbx.connection.sent == []
    for _ in range(2):
        await queue.next()
    waiting = asyncio.create_task(queue.next())  # for more: the end was read
    await asyncio.sleep(0.001)
    assert pbx.connection.sent == [WSCloseCode.OK, "disconnect"]
    waiting.cancel()


@pytest.mark.parametrize(
    ("url", "handshake", "reason", "text", "status"),
    [
        (PBX, ScriptedHandshake(error=OSError("no route")), "pbx-unreachable", "no route", 0),
        (PBX, ScriptedHandshake(hangs=True), "pbx-unreachable", "TimeoutError", 0),
        (BOT, ScriptedHandshake(error=WSHandshakeError("odd")), "no-websocket", "odd", 0),
        (BOT, ScriptedHandshake(hangs=True), "unreachable", "no response in 5 s", 0),
    ],
)
@virtual_time
async def test_an_end_that_is_not_reached_ends_a_stream(
    url: str, handshake: ScriptedHandshake, reason: str, text: str, status: int
) -> None:
    """The other one is closed."""
    scene = Scene()
    scene.network.at[url] = handshake
    scene.service.set_up("a", scene.setup())
    await asyncio.sleep(CONNECT_S + 0.1)
    (ended,) = scene.ended()
    assert (ended.reason, ended.detail, ended.http_status) == (reason, text, status)
    other = scene.network.at[BOT if url == PBX else PBX]
    assert other.connection.sent[-2:] == [WSCloseCode.OK, "disconnect"]


@virtual_time
async def test_a_stream_that_ends_before_it_is_connected() -> None:
    """Both connections are closed when they are there, and the bot is not greeted."""
    scene = Scene()
    scene.service.set_up("a", scene.setup())
    scene.service.stop("a")
    await asyncio.sleep(0.1)
    for url in (PBX, BOT):
        assert scene.network.at[url].connection.sent == [WSCloseCode.OK, "disconnect"]


@virtual_time
async def test_a_pbx_gets_few_handshakes_at_a_time() -> None:
    """Asterisk lets no more wait; the next ones follow when these are answered."""
    scene = Scene()
    scene.network.at[PBX] = handshake = ScriptedHandshake(hangs=True)
    begun_s = list[float]()

    async def opens() -> None:
        begun_s.append(asyncio.get_running_loop().time())

    handshake.opens = opens
    for number in range(10):
        scene.service.set_up(str(number), scene.setup())
    await asyncio.sleep(CONNECT_S + 0.1)
    assert begun_s == [0.0] * MAX_PBX_HANDSHAKES + [CONNECT_S] * (10 - MAX_PBX_HANDSHAKES)


class FailingHub(ReportHub):
    """A hub with a fault."""

    async def settled(self) -> None:
        raise RuntimeError("a fault")


@virtual_time
async def test_a_fault_beside_a_stream_is_logged() -> None:
    """Nothing waits for what runs there."""
    scene = Scene(FailingHub())
    scene.service.set_up("a", scene.setup())
    with capture_logs() as logs:
        scene.service.stop("a")
        await asyncio.sleep(0.1)
    assert [each["event"] for each in logs] == ["stream ended", "stream task failed"]
    assert str(logs[1]["exc_info"]) == "a fault"


@virtual_time
async def test_a_gateway_that_stops_waits_for_its_last_connections() -> None:
    """For a second: one may never be answered."""
    scene = Scene()
    scene.network.at[PBX] = ScriptedHandshake(hangs=True)
    scene.service.set_up("a", scene.setup())
    await asyncio.sleep(0.1)
    await scene.service.drain(2.0)
    assert asyncio.get_running_loop().time() == pytest.approx(0.1 + 2.0 + 1.0)


@virtual_time
async def test_bots_are_read_again_when_their_account_has_paid() -> None:
    """The service looks at each tick."""
    scene = Scene()
    stream, bot = scene.add("a"), RecordingBot()
    stream.loop_share.add(bot)
    scene.context.accounts.loop.join("other")
    stream.loop_share.spend(0.15)
    async with scene.running():
        assert not bot.is_read
        await asyncio.sleep(0.5)
        assert bot.is_read
