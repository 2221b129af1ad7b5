"""The archivist: recordings that lie on a PBX though their call has ended are filed, for ever."""

import asyncio
from typing import Protocol

import msgspec
import structlog

from engine.ari.generated.models import StoredRecording
from engine.ari.generated.operations import recordings
from engine.calls.model.ids import slot_and_node
from engine.calls.model.recording import RecordingName, parse_recording_name
from engine.recordings.errors import ArchiveError
from engine.runtime.nodes.node import Node
from engine.runtime.pbx.snapshot import PbxUnavailable, query

log = structlog.get_logger()
_stored = msgspec.json.Decoder(list[StoredRecording])


class RecordingArchiver(Protocol):
    """Who files tapes; `recorder.Recorder` is the real one."""

    async def archive(self, names: list[str]) -> int | None:
        """File tapes of one recording, then delete them; raises ArchiveError."""


class RecordingSweeper:
    """Sweeps one node for what a crash, or an archive that was away, has left there."""

    def __init__(self, node: Node, recorder: RecordingArchiver, period_s: float) -> None:
        self._node = node
        self._recorder = recorder
        self._period_s = period_s
        self._seen: frozenset[str] = frozenset()

    async def run(self) -> None:
        """Sweep until cancelled."""
        while True:
            await asyncio.sleep(self._period_s)
            await self.sweep()

    async def sweep(self) -> None:
        """Look once; file what was nobody's at the last look too: a call may just be ending."""
        left = await self._left()
        due = sorted(left.keys() & self._seen)
        self._seen = frozenset(left)
        for path in due:
            await self._file(left[path])

    async def _file(self, names: list[str]) -> None:
        try:
            await self._recorder.archive(names)
        except ArchiveError as error:
            log.warning("recording not filed", name=names[0], error=str(error))
        else:
            log.info("recording filed afterwards", name=names[0])

    async def _left(self) -> dict[str, list[str]]:
        """List the names of tapes that no live call has, by the recording that they belong to."""
        found: dict[str, list[str]] = {}
        try:
            stored = await query(self._node.pbx, recordings.list_stored(), _stored)
        except PbxUnavailable as error:
            log.info("archivist waits for the pbx", node=self._node.name, error=str(error))
            return found
        for each in stored:
            tape = parse_recording_name(each.name)
            if tape is not None and self._is_left(tape):
                found.setdefault(tape.path, []).append(each.name)
        return found

    def _is_left(self, tape: RecordingName) -> bool:
        slot, _node = slot_and_node(tape.call) or (-1, "")
        desk = self._node.shards.get(slot)
        return desk is not None and not desk.is_paused and tape.call not in desk.actors
