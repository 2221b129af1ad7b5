"""Archives the recordings that remain on a PBX after their calls have ended."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec
import structlog

from engine.ari.generated.models import StoredRecording
from engine.ari.generated.operations import recordings
from engine.calls.model.recording import RecordingName, parse_recording_name
from engine.recordings import ArchiveError
from engine.runtime.base.interfaces import Pbx
from engine.runtime.pbx.snapshot import PbxUnavailable, query
from engine.runtime.shard.shard import CallShard
from wire.call_id_format import shard_of

log = structlog.get_logger()
_stored = msgspec.json.Decoder(list[StoredRecording])


class RecordingSweeper:
    """Sweeps one node for recordings that a crash or an unreachable archive has left there."""

    def __init__(
        self,
        node: str,
        pbx: Pbx,
        shards: Mapping[int, CallShard],
        archive: Callable[[Sequence[str]], Awaitable[int | None]],
        *,
        period_s: float,
    ) -> None:
        self._node = node
        self._pbx = pbx
        self._shards = shards
        self._archive_files = archive  # raises ArchiveError
        self._period_s = period_s
        self._seen: frozenset[str] = frozenset()

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._period_s)
            await self.sweep()

    async def sweep(self) -> None:
        """Archive what two sweeps in a row have found: a call may be ending just now."""
        orphans = await self._find_orphans()
        due = sorted(orphans.keys() & self._seen)
        self._seen = frozenset(orphans)
        for path in due:
            await self._archive(orphans[path])

    async def _archive(self, names: list[str]) -> None:
        try:
            await self._archive_files(names)
        except ArchiveError as error:
            log.warning("orphaned recording not archived", name=names[0], error=str(error))
        else:
            log.info("orphaned recording archived", name=names[0])

    async def _find_orphans(self) -> dict[str, list[str]]:
        """List the file names that belong to no live call, by the path of their recording."""
        orphans: dict[str, list[str]] = {}
        try:
            stored = await query(self._pbx, recordings.list_stored(), _stored)
        except PbxUnavailable as error:
            log.info("recording sweep: pbx not responding", node=self._node, error=str(error))
            return orphans
        for each in stored:
            name = parse_recording_name(each.name)
            if name is not None and self._is_orphan(name):
                orphans.setdefault(name.path, []).append(each.name)
        return orphans

    def _is_orphan(self, name: RecordingName) -> bool:
        found = shard_of(name.call)
        shard = self._shards.get(found.slot) if found else None
        if shard is None or shard.is_paused:
            return False
        return name.call not in shard.calls and not shard.is_left_alone(name.call)
