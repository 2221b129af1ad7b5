"""One PBX's tapes: started, muted and stopped over AMI, beside the calls; filed when they end.

No call waits for it: what fails is tried again until the call's tapes are to be filed.
"""

import asyncio
import itertools
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

import structlog

from engine.ami.client import AmiUnavailable
from engine.ari.generated.operations import channels, recordings
from engine.calls.model.commands import ArchiveRecordings, RecordingCommand
from engine.calls.model.events import Event, RecordingsArchived
from engine.calls.model.recording import CHANNELS, RecordingName, parse_recording_name
from engine.recordings.archiver import RecordingPart
from engine.recordings.errors import ArchiveError
from engine.runtime.base.ports import Pbx
from engine.runtime.recording.mixmonitor import (
    Ami,
    IsAllowed,
    LeaseLost,
    MixMonitor,
    MixMonitorCommand,
)

log = structlog.get_logger()
RETRY_DELAYS_S = (0.2, 1.0, 5.0)  # the last for ever
MAX_CONCURRENT = 8
Done = Callable[[Event | None], None]


def _always_allowed() -> bool:
    return True


class RecordingArchiver(Protocol):
    """Where tapes are filed; `recordings.cabinet.Cabinet` is the real one."""

    async def archive(self, path: str, channels: int, parts: Sequence[RecordingPart]) -> int | None:
        """File tapes as one; gives its length in ms, None without any; raises ArchiveError."""


class Recorder:
    """Does what calls want of their tapes; the same command may come again."""

    def __init__(self, pbx: Pbx, ami: Ami, cabinet: RecordingArchiver) -> None:
        self._pbx = pbx
        self._mixmonitor = MixMonitor(pbx, ami)
        self._cabinet = cabinet
        self._queues: dict[str, deque[tuple[MixMonitorCommand, Done, IsAllowed]]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}  # by call, or by request
        self._busy: set[str] = set()  # recordings that are being filed
        self._room = asyncio.Semaphore(MAX_CONCURRENT)

    def run(
        self, command: RecordingCommand, call: str, done: Done, may: IsAllowed = _always_allowed
    ) -> None:
        """Do a command while it `may`; `done` gets the event that it leads to, if it does."""
        if isinstance(command, ArchiveRecordings):
            self._file(command, call, done)
            return
        self._queues.setdefault(call, deque()).append((command, done, may))
        self._begin(call, self._in_turn(call))

    def abandon(self, call: str) -> None:
        """Do no more for a call: it is another engine's, which does again what is not done."""
        for name, task in self._tasks.items():
            if name == call or name.startswith(f"{call}."):
                task.cancel()

    async def archive(self, names: Sequence[str]) -> int | None:
        """File tapes of one recording, then delete them from the PBX; raises ArchiveError."""
        read = [(name, found) for name in names if (found := parse_recording_name(name))]
        path = read[0][1].path
        if path in self._busy:
            raise ArchiveError("busy", path)
        self._busy.add(path)
        try:
            async with self._room:
                return await self._filed(path, read)
        finally:
            self._busy.discard(path)

    async def close(self) -> None:
        """Leave everything undone: the outbox remembers it, and the PBX's files do."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        running = self._tasks.get(name)
        if running is not None and not running.done():
            work.close()
            return
        task = self._tasks[name] = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(lambda ended: self._ended(name, ended))

    def _ended(self, name: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(name) is task:
            del self._tasks[name]

    async def _in_turn(self, call: str) -> None:
        queue = self._queues[call]
        try:
            while queue:
                command, done, may = queue[0]
                await self._surely(command, call, may)
                queue.popleft()
                done(None)
        except LeaseLost:
            log.info("tapes left as they are", call_id=call)
        finally:
            del self._queues[call]

    async def _surely(self, command: MixMonitorCommand, call: str, may: IsAllowed) -> None:
        for tries in itertools.count():
            try:
                await self._mixmonitor.execute(command, may)
            except AmiUnavailable as error:
                log.warning("tape not at hand", call_id=call, error=str(error), tries=tries)
                await asyncio.sleep(RETRY_DELAYS_S[min(tries, len(RETRY_DELAYS_S) - 1)])
            else:
                return

    def _file(self, command: ArchiveRecordings, call: str, done: Done) -> None:
        is_last = any(
            (found := parse_recording_name(e)) and found.purpose == "call" for e in command.names
        )
        if is_last and (task := self._tasks.get(call)):
            task.cancel()  # the call has ended: there is nothing to be recorded any more

        async def filed() -> None:
            done(await self._outcome(command, call))

        self._begin(command.request, filed())

    async def _outcome(self, command: ArchiveRecordings, call: str) -> RecordingsArchived:
        try:
            length_ms = await self.archive(command.names)
        except ArchiveError as error:
            log.warning("recording not filed yet", call_id=call, error=str(error))
            return RecordingsArchived(command.request, fault=str(error))
        if length_ms is None:
            log.error("recording lost", call_id=call)
            return RecordingsArchived(command.request, fault="lost")
        return RecordingsArchived(command.request, length_ms)

    async def _filed(self, path: str, read: list[tuple[str, RecordingName]]) -> int | None:
        for name, tape in read:
            if await self._is_running(name, tape):
                raise ArchiveError("busy", f"{name} is being recorded")
        parts = [RecordingPart(name, tape.started_ms) for name, tape in read]
        length_ms = await self._cabinet.archive(path, CHANNELS[read[0][1].purpose], parts)
        if length_ms is not None:
            for part in parts:  # what can't be deleted now, the archivist finds
                await self._pbx.ask(recordings.delete_stored(part.name))
        return length_ms

    async def _is_running(self, name: str, tape: RecordingName) -> bool:
        """Tell whether a file may still grow: a call that was given up has not ended its legs."""
        is_message = tape.purpose == "voicemail"
        asked = recordings.get_live(name) if is_message else channels.get(tape.leg)
        reply = await self._pbx.ask(asked)
        if reply.status == 0:
            raise ArchiveError("pbx", "no answer")
        return reply.ok
