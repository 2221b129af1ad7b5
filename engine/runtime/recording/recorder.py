"""Records one PBX's calls: starts, mutes and stops MixMonitors over AMI, then archives the files.

Calls do not wait for it: a failed command is retried until the call's recordings are archived.
"""

import asyncio
import itertools
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

import msgspec
import structlog
from msgspec import Struct

from base.tasks import cancel_all
from engine.ami.client import AmiResponse, AmiUnavailable
from engine.ari.generated.operations import channels, recordings
from engine.calls.model.commands import (
    ArchiveRecordings,
    MuteRecording,
    RecordingCommand,
    StartRecording,
    StopRecording,
)
from engine.calls.model.events import Event, RecordingsArchived
from engine.calls.model.recording import CHANNELS, RecordingName, parse_recording_name
from engine.recordings import ArchiveError, RecordingPart
from engine.runtime.base.interfaces import Pbx
from engine.store.store import LeaseView

# Relative to Asterisk's monitor folder: ARI serves and deletes the files of this folder only.
RECORDING_FOLDER = "../recording"
FILENAME_VARIABLE = "MIXMONITOR_FILENAME"
NO_CHANNEL = "No such channel"
MixMonitorCommand = StartRecording | MuteRecording | StopRecording
IsAllowed = Callable[[], bool]


class Ami(Protocol):
    """A PBX's manager interface; `engine.ami.client` implements it."""

    async def ask(self, action: str, fields: dict[str, str]) -> AmiResponse:
        """Send an action; raises AmiUnavailable."""


class LeaseLost(Exception):
    """Another engine may own the call by now."""


class MixMonitor(Struct, frozen=True):
    """Executes one command at a time; every command may be repeated."""

    pbx: Pbx
    ami: Ami

    async def execute(self, command: MixMonitorCommand, is_allowed: IsAllowed) -> None:
        """Execute a command; raises AmiUnavailable, or LeaseLost if it is not allowed."""
        match command:
            case StartRecording(leg, name):
                if await self._current_file(leg) != name:
                    file = f"{RECORDING_FOLDER}/{name}.raw"
                    fields = {"Channel": leg, "File": file, "Options": "D"}
                    response = await self._send_action("MixMonitor", fields, is_allowed)
                    if not response.is_ok and response.message != NO_CHANNEL:
                        raise AmiUnavailable(response.message)
            case MuteRecording(leg, muted):
                state = "1" if muted else "0"
                fields = {"Channel": leg, "Direction": "both", "State": state}
                await self._send_action("MixMonitorMute", fields, is_allowed)
            case StopRecording(leg, name):
                if await self._current_file(leg) == name:
                    await self._send_action("StopMixMonitor", {"Channel": leg}, is_allowed)

    async def _send_action(
        self, action: str, fields: dict[str, str], is_allowed: IsAllowed
    ) -> AmiResponse:
        if not is_allowed():
            raise LeaseLost
        return await self.ami.ask(action, fields)

    async def _current_file(self, leg: str) -> str:
        """Return the name of the file that a leg is or was last recorded to."""
        reply = await self.pbx.ask(channels.get_channel_var(leg, variable=FILENAME_VARIABLE))
        if reply.status == 0:
            raise AmiUnavailable("the PBX gave no answer")
        found = msgspec.json.decode(reply.body, type=dict[str, str]) if reply.ok else {}
        return found.get("value", "").rpartition("/")[2].removesuffix(".raw")


log = structlog.get_logger()
RETRY_DELAYS_S = (0.2, 1.0, 5.0)  # the last one repeats
MAX_CONCURRENT = 8  # archiving jobs
_BUSY_DELAYS_S = (0.1, 0.3, 1.0)  # the PBX lists a leg for a moment after its end
Done = Callable[[Event | None], None]
Queue = deque[tuple[MixMonitorCommand, Done, IsAllowed]]


class RecordingArchiver(Protocol):
    """Stores recordings in the archive; `engine.recordings` implements it."""

    async def archive(self, path: str, channels: int, parts: Sequence[RecordingPart]) -> int | None:
        """Join files into one recording; returns its length in ms, None if all files are missing.

        Raises ArchiveError.
        """


class Recorder:
    """Runs recording commands; the same command may come more than once."""

    def __init__(self, pbx: Pbx, ami: Ami, archiver: RecordingArchiver) -> None:
        self._pbx = pbx
        self._mixmonitor = MixMonitor(pbx, ami)
        self._archiver = archiver
        self._queues: dict[str, Queue] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}  # by call id or request id
        self._archiving: set[str] = set()  # paths of recordings
        self._semaphore = asyncio.Semaphore(MAX_CONCURRENT)

    def run(
        self,
        command: RecordingCommand,
        call: str,
        done: Done,
        is_allowed: IsAllowed = lambda: True,
    ) -> None:
        """Run a command while it is allowed and call `done` with its result, if it has one."""
        if isinstance(command, ArchiveRecordings):
            self._start_archiving(command, call, done)
            return
        queue = self._queues.setdefault(call, deque())
        if queue and queue[-1][0] == command:
            return  # a recovery repeats the command that is being executed
        queue.append((command, done, is_allowed))
        self._start(call, self._run_queue(call, queue))

    def drop_waiting(self, call: str) -> None:
        """Drop a call's commands but the one being executed: a recovery is about to repeat them.

        Executed twice, a start, a stop and the next start would overwrite the first file.
        """
        if queue := self._queues.get(call):
            first = queue.popleft()
            queue.clear()
            queue.append(first)

    def abandon(self, call: str) -> None:
        """Stop the work for a call; its next owner repeats what is not done."""
        self._queues.pop(call, None)
        for name in [e for e in self._tasks if e == call or e.startswith(f"{call}.")]:
            self._tasks.pop(name).cancel()

    async def archive(self, names: Sequence[str]) -> int | None:
        """Archive the files of one recording, then delete them; raises ArchiveError."""
        files = [(name, parsed) for name in names if (parsed := parse_recording_name(name))]
        path = files[0][1].path
        if path in self._archiving:
            raise ArchiveError("busy", path)
        self._archiving.add(path)
        try:
            async with self._semaphore:
                return await self._archive_files(path, files)
        finally:
            self._archiving.discard(path)

    async def close(self) -> None:
        """Cancel all work; it remains in the outboxes and as files on the PBX."""
        await cancel_all(self._tasks.values())

    def _start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        running = self._tasks.get(name)
        if running is not None and not running.done():
            work.close()
            return
        task = self._tasks[name] = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(lambda ended: self._on_ended(name, ended))

    def _on_ended(self, name: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(name) is task:
            del self._tasks[name]

    async def _run_queue(self, call: str, queue: Queue) -> None:
        try:
            while queue:
                command, done, is_allowed = queue[0]
                await self._retry(command, call, is_allowed)
                queue.popleft()
                done(None)
        except LeaseLost:
            log.info("recording commands abandoned: lease lost", call_id=call)
        finally:
            if self._queues.get(call) is queue:
                del self._queues[call]

    async def _retry(self, command: MixMonitorCommand, call: str, is_allowed: IsAllowed) -> None:
        for tries in itertools.count():
            try:
                await self._mixmonitor.execute(command, is_allowed)
            except AmiUnavailable as error:
                log.warning(
                    "recording command failed, retrying",
                    call_id=call,
                    error=str(error),
                    tries=tries,
                )
                await asyncio.sleep(RETRY_DELAYS_S[min(tries, len(RETRY_DELAYS_S) - 1)])
            else:
                return

    def _start_archiving(self, command: ArchiveRecordings, call: str, done: Done) -> None:
        names = map(parse_recording_name, command.names)
        is_call_recording = any(name and name.purpose == "call" for name in names)
        if is_call_recording and (task := self._tasks.get(call)):
            task.cancel()  # the call has ended: its other recording commands are obsolete

        async def archive() -> None:
            done(await self._archive_result(command, call))

        self._start(command.request, archive())

    async def _archive_result(self, command: ArchiveRecordings, call: str) -> RecordingsArchived:
        try:
            length_ms = await self._archive_once_ended(command.names)
        except ArchiveError as error:
            log.warning("recording not archived yet", call_id=call, error=str(error))
            return RecordingsArchived(command.request, fault=error.fault)
        if length_ms is None:
            log.error("recording lost", call_id=call)
            return RecordingsArchived(command.request, fault="lost")
        return RecordingsArchived(command.request, length_ms)

    async def _archive_once_ended(self, names: Sequence[str]) -> int | None:
        for delay_s in _BUSY_DELAYS_S:
            try:
                return await self.archive(names)
            except ArchiveError as error:
                if error.fault != "busy":
                    raise
            await asyncio.sleep(delay_s)
        return await self.archive(names)

    async def _archive_files(self, path: str, files: list[tuple[str, RecordingName]]) -> int | None:
        for file, name in files:
            if await self._is_recording(file, name):
                raise ArchiveError("busy", f"{file} is being recorded")
        parts = [RecordingPart(file, name.offset_ms) for file, name in files]
        length_ms = await self._archiver.archive(path, CHANNELS[files[0][1].purpose], parts)
        if length_ms is not None:
            for part in parts:  # the sweeper finds a file that cannot be deleted now
                await self._pbx.ask(recordings.delete_stored(part.name))
        return length_ms

    async def _is_recording(self, file: str, name: RecordingName) -> bool:
        """Return whether a file may still grow: the legs of a lost call may still be up."""
        is_voicemail = name.purpose == "voicemail"
        request = recordings.get_live(file) if is_voicemail else channels.get(name.leg)
        reply = await self._pbx.ask(request)
        if reply.status == 0:
            raise ArchiveError("pbx", "no answer")
        return reply.ok


class FencedRecorder:
    """Runs a slot's recording commands as long as its lease holds; implements `CallRecorder`."""

    def __init__(self, recorder: Recorder, lease: LeaseView) -> None:
        self.abandon = recorder.abandon
        self.drop_waiting = recorder.drop_waiting
        self._recorder = recorder
        self._lease = lease

    def run(
        self, command: RecordingCommand, call: str, done: Callable[[Event | None], None]
    ) -> None:
        self._recorder.run(command, call, done, lambda: self._lease.holds)
