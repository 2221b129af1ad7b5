"""The sweeper: archives recordings on a PBX whose calls have ended."""

from collections.abc import Sequence

import msgspec
import pytest

from engine.ari.request import Reply
from engine.recordings import ArchiveError
from engine.runtime.recording.leftover_recordings import RecordingSweeper
from tests.harness.calls.builders import ID, inbound, say
from tests.harness.runtime.shard_scene import ShardScene

LEFT = [f"acme~2026-11-21~{ID}.k{n}~{n}~l0" for n in (1, 2)]
MESSAGE = f"acme~2026-11-21~{ID}.v3~3~l0"
ELSEWHERE = "acme~2026-11-21~7-pbx1-abcdefgh.k1~1~l0"


class FakeArchiver:
    """Keeps the names of archived files."""

    def __init__(self) -> None:
        self.archived: list[list[str]] = []
        self.failure: ArchiveError | None = None

    async def archive(self, names: Sequence[str]) -> int | None:
        """Archive files, or fail."""
        self.archived.append(list(names))
        if self.failure is not None:
            raise self.failure
        return 1_000


class SweeperScene:
    """A node with one slot, and its sweeper."""

    def __init__(self) -> None:
        self.scene = ShardScene()
        node = self.scene.node()
        self.recorder = FakeArchiver()
        self.sweeper = RecordingSweeper(
            node.name, node.pbx, node.shards, self.recorder.archive, period_s=30
        )
        self.shows(*LEFT)

    def shows(self, *names: str) -> None:
        """Let the PBX show these files."""
        stored = [{"name": name, "format": "raw"} for name in names]
        self.scene.pbx.shows["recordings/stored"] = Reply(200, msgspec.json.encode(stored))

    async def sweep(self, times: int = 2) -> list[list[str]]:
        """Sweep, and return what was archived meanwhile."""
        self.recorder.archived.clear()
        for _ in range(times):
            await self.sweeper.sweep()
        return self.recorder.archived


@pytest.fixture
def scene() -> SweeperScene:
    """Make a scene."""
    return SweeperScene()


async def test_an_orphan_of_two_sweeps_is_archived(scene: SweeperScene) -> None:
    """After one sweep its call may just be ending; all files of a call are one recording."""
    assert await scene.sweep(1) == []
    assert await scene.sweep(1) == [LEFT]


async def test_each_voicemail_is_archived_by_itself(scene: SweeperScene) -> None:
    """It is separate from the recording of the conversation."""
    scene.shows(*LEFT, MESSAGE)
    assert sorted(await scene.sweep()) == [LEFT, [MESSAGE]]


async def test_a_failed_archive_is_retried(scene: SweeperScene) -> None:
    """As long as the file exists."""
    scene.recorder.failure = ArchiveError("archive", "away")
    assert len(await scene.sweep(6)) == 5
    scene.shows()
    assert await scene.sweep() == []


async def test_recordings_of_a_live_call_stay(scene: SweeperScene) -> None:
    """The call archives them itself."""
    scene.scene.shard.start_call(inbound(say()))
    assert await scene.sweep() == []


async def test_recordings_of_others_stay(scene: SweeperScene) -> None:
    """Those of another engine's slot, and files that are not ours."""
    scene.shows(ELSEWHERE, "greeting", "acme~x")
    assert await scene.sweep() == []


async def test_a_paused_shard_is_not_swept(scene: SweeperScene) -> None:
    """Its calls may be live."""
    scene.scene.shard.pause()
    assert await scene.sweep() == []


@pytest.mark.parametrize("reply", [Reply(0), Reply(503)])
async def test_a_pbx_that_does_not_answer(scene: SweeperScene, reply: Reply) -> None:
    """The count of two sweeps starts again."""
    await scene.sweep(1)
    scene.scene.pbx.shows["recordings/stored"] = reply
    assert await scene.sweep(1) == []
    scene.shows(*LEFT)
    assert await scene.sweep(1) == []
