"""The archivist: what lies on a PBX though its call has ended is filed, when it is nobody's."""

from collections.abc import Sequence

import msgspec
import pytest

from engine.ari.request import Reply
from engine.recordings.errors import ArchiveError
from engine.runtime.recording.sweeper import RecordingSweeper
from tests.unit.calls.harness.builders import ID, inbound, say
from tests.unit.runtime.harness.shard_bench import ShardBench

LEFT = [f"acme~2026-11-21~{ID}.k{n}~{n}~l0" for n in (1, 2)]
MESSAGE = f"acme~2026-11-21~{ID}.v3~3~l0"
ELSEWHERE = "acme~2026-11-21~7-pbx1-abcdefgh.k1~1~l0"


class FakeArchiver:
    """Keeps what is to be filed."""

    def __init__(self) -> None:
        self.filed: list[list[str]] = []
        self.failure: ArchiveError | None = None

    async def archive(self, names: Sequence[str]) -> int | None:
        """File tapes, or fail."""
        self.filed.append(list(names))
        if self.failure is not None:
            raise self.failure
        return 1_000


class SweeperBench:
    """A node with one slot, and its archivist."""

    def __init__(self) -> None:
        self.bench = ShardBench()
        node = self.bench.node()
        self.recorder = FakeArchiver()
        self.sweeper = RecordingSweeper(
            node.name, node.pbx, node.shards, self.recorder, period_s=30
        )
        self.shows(*LEFT)

    def shows(self, *names: str) -> None:
        """Let these lie on the PBX."""
        stored = [{"name": name, "format": "raw"} for name in names]
        self.bench.pbx.shows["recordings/stored"] = Reply(200, msgspec.json.encode(stored))

    async def sweep(self, times: int = 2) -> list[list[str]]:
        """Sweep, and give what was filed meanwhile."""
        self.recorder.filed.clear()
        for _ in range(times):
            await self.sweeper.sweep()
        return self.recorder.filed


@pytest.fixture
def bench() -> SweeperBench:
    """Make one."""
    return SweeperBench()


async def test_what_is_nobodys_twice_is_filed(bench: SweeperBench) -> None:
    """Once seen it may belong to a call that is just ending; all tapes of a call are one file."""
    assert await bench.sweep(1) == []
    assert await bench.sweep(1) == [LEFT]


async def test_each_message_is_filed_by_itself(bench: SweeperBench) -> None:
    """Beside the conversation's tapes."""
    bench.shows(*LEFT, MESSAGE)
    assert sorted(await bench.sweep()) == [LEFT, [MESSAGE]]


async def test_it_is_tried_for_ever(bench: SweeperBench) -> None:
    """As long as it lies there."""
    bench.recorder.failure = ArchiveError("archive", "away")
    assert len(await bench.sweep(6)) == 5
    bench.shows()
    assert await bench.sweep() == []


async def test_a_live_calls_tapes_are_left(bench: SweeperBench) -> None:
    """They are the call's to file."""
    bench.bench.shard.start_call(inbound(say()))
    assert await bench.sweep() == []


async def test_what_others_may_file_is_left(bench: SweeperBench) -> None:
    """Another engine's slot, and recordings that are none of ours."""
    bench.shows(ELSEWHERE, "greeting", "acme~x")
    assert await bench.sweep() == []


async def test_while_a_node_is_away_nothing_is_concluded(bench: SweeperBench) -> None:
    """Its calls may live."""
    bench.bench.shard.pause()
    assert await bench.sweep() == []


@pytest.mark.parametrize("reply", [Reply(0), Reply(503)])
async def test_a_pbx_that_does_not_answer_is_waited_for(bench: SweeperBench, reply: Reply) -> None:
    """And begins anew: twice seen means twice."""
    await bench.sweep(1)
    bench.bench.pbx.shows["recordings/stored"] = reply
    assert await bench.sweep(1) == []
    bench.shows(*LEFT)
    assert await bench.sweep(1) == []
