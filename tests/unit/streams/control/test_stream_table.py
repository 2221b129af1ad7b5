"""The streams of a gateway: which are live, which have ended, and when they are forgotten."""

import asyncio
import itertools
from typing import Any

import msgspec
import pytest

from streams.bots.limits import Accounts
from streams.bots.protocols.protocol import StreamName
from streams.control.service import protocol_of
from streams.control.table import KEPT_ENDED_MS, NoRoom, Room, StreamTable
from streams.stream.context import StreamContext
from streams.stream.metrics import StreamMetrics
from streams.stream.stream import Stream
from streams.stream.voice import VoiceJudges
from tests.harness.executors import InlineExecutor
from tests.unit.streams.fixed_model import FixedModel
from wire.streams.reports import StreamEnded
from wire.streams.setup import BotAddress, StreamSetup


class Scene:
    """A table with room for some streams, and a clock that a test moves."""

    def __init__(self, streams: int = 2, account_share: int = 100) -> None:
        self.now_ms = 0.0
        self.reports: list[dict[str, Any]] = []
        self.table = StreamTable(
            lambda report: self.reports.append(msgspec.to_builtins(report)),
            self._now,
            Room(streams, account_share),
        )

    def _now(self) -> float:
        return self.now_ms

    def begin(self, stream_id: str, account: str = "acme") -> Stream:
        """Add a stream, whose two ends are nothing to the table."""
        judges = VoiceJudges(lambda _rate: FixedModel(0.9), InlineExecutor())
        context = StreamContext(
            self._now, self._now, lambda _report: None, StreamMetrics(), judges, Accounts()
        )
        setup = StreamSetup("ws://pbx/media/1", BotAddress("wss://bot/", "native"), account, "c")
        protocol = protocol_of(StreamName(stream_id, setup))
        stream = Stream(stream_id, setup, protocol, context, self.table.end)
        self.table.add(stream)
        return stream

    def end(self, stream: Stream) -> None:
        """End a stream."""
        self.table.end(stream, StreamEnded(stream.id, "stopped", 0, 0, 0, "", "", None))

    def ended(self) -> list[str]:
        """Return the streams that have ended and are not forgotten."""
        return [each.stream for each in self.table.snapshot().ended]


def test_a_stream_is_known_until_it_is_forgotten() -> None:
    """Its last report is kept for an engine that was away."""
    scene = Scene()
    stream = scene.begin("a")
    assert scene.table.has("a")
    assert scene.table.live("a") is stream
    scene.end(stream)
    assert (scene.table.has("a"), scene.table.live("a"), len(scene.table)) == (True, None, 0)
    assert [each["type"] for each in scene.reports] == ["ended"]
    assert scene.ended() == ["a"]
    scene.table.forget("a")
    assert not scene.table.has("a")
    scene.table.forget("a")


def test_old_ones_are_forgotten() -> None:
    """Ten minutes after their end; later ones stay."""
    scene = Scene()
    for stream_id in ("a", "b"):
        scene.end(scene.begin(stream_id))
        scene.now_ms += 1
    scene.now_ms = KEPT_ENDED_MS - 1
    scene.table.forget_old()
    assert scene.ended() == ["a", "b"]
    scene.now_ms += 1
    scene.table.forget_old()
    assert scene.ended() == ["b"]


def test_a_full_table_has_no_room() -> None:
    """Until a stream ends."""
    scene = Scene()
    streams = [scene.begin("a"), scene.begin("b")]
    with pytest.raises(NoRoom, match="has 2 streams, as many as it may"):
        scene.table.check_room("acme")
    assert list(scene.table) == streams
    scene.end(streams[0])
    scene.table.check_room("acme")


def fill(scene: Scene, account: str) -> int:
    """Give an account all the streams that it may have; return their number."""
    for count in itertools.count():
        try:
            scene.table.check_room(account)
        except NoRoom:
            return count
        scene.begin(f"{account}{count}", account)
    raise AssertionError


@pytest.mark.parametrize(
    ("share", "counts"), [(50, [5, 3, 1, 1, 0]), (25, [3, 2, 2, 1, 1]), (100, [10, 0, 0, 0, 0])]
)
def test_an_account_has_a_share(share: int, counts: list[int]) -> None:
    """Of what others leave: so several accounts that take all they can leave some streams, too."""
    scene = Scene(10, share)
    assert [fill(scene, account) for account in "abcde"] == counts


def test_the_share_of_an_account_grows_again() -> None:
    """With each stream that it, or another account, ends."""
    scene = Scene(4, 50)
    own = [scene.begin("a0", "a"), scene.begin("a1", "a")]
    with pytest.raises(NoRoom, match="this account has 2 streams of this gateway"):
        scene.table.check_room("a")
    scene.end(own[0])
    scene.table.check_room("a")
    last = scene.begin("a2", "a")
    with pytest.raises(NoRoom):
        scene.table.check_room("a")
    scene.end(own[1])
    scene.end(last)
    assert fill(scene, "b") == 2


def test_a_gateway_that_shuts_down_has_no_room() -> None:
    """It says so once, and tells each engine that asks."""
    scene = Scene()
    assert not scene.table.snapshot().is_draining
    for _ in range(2):
        scene.table.drain()
    assert [each["type"] for each in scene.reports] == ["draining"]
    assert scene.table.snapshot().is_draining
    with pytest.raises(NoRoom, match="this gateway shuts down"):
        scene.table.check_room("acme")


async def test_the_end_of_all_streams_is_waited_for() -> None:
    """Without one there is nothing to wait for."""
    scene = Scene()
    await scene.table.wait_empty()
    streams = [scene.begin("a"), scene.begin("b")]
    waiting = asyncio.create_task(scene.table.wait_empty())
    for stream in streams:
        await asyncio.sleep(0)  # a turn of the loop
        assert not waiting.done()
        scene.end(stream)
    await waiting
