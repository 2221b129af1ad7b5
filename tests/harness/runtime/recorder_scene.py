"""A recorder whose PBX, AMI and archiver the test answers."""

import asyncio
from collections.abc import Sequence

from engine.ami.client import AmiResponse, AmiUnavailable
from engine.ari.request import Reply, Request
from engine.calls.model.commands import RecordingCommand
from engine.calls.model.events import Event
from engine.recordings import ArchiveError, RecordingPart
from engine.runtime.recording.recorder import Recorder
from tests.harness.runtime.recording_pbx import RecordingPbx
from tests.harness.until import until

CALL = "0-pbx1-abcdefgh"
LEG = f"{CALL}.l0"
FIRST, SECOND = (f"acme~2026-11-21~{CALL}.k{n}~{n}~l0" for n in (1, 2))
MESSAGE = f"acme~2026-11-21~{CALL}.v3~3~l0"
FILENAME_VARIABLE = f"channels/{LEG}/variable"


class FakeAmi:
    """An AMI with scripted responses; an exception is no response."""

    def __init__(self) -> None:
        self.actions: list[tuple[str, dict[str, str]]] = []
        self.responses: list[AmiResponse | AmiUnavailable] = []

    async def ask(self, action: str, fields: dict[str, str]) -> AmiResponse:
        """Keep the action."""
        self.actions.append((action, fields))
        answer = self.responses.pop(0) if self.responses else AmiResponse(True)
        if isinstance(answer, AmiUnavailable):
            raise answer
        return answer


class FakeArchiver:
    """An archiver with a scripted result, once it may finish."""

    def __init__(self) -> None:
        self.archived: list[tuple[str, int, list[str]]] = []
        self.result: int | ArchiveError | None = 1_200
        self.may_finish = asyncio.Event()
        self.may_finish.set()

    async def archive(self, path: str, channels: int, parts: Sequence[RecordingPart]) -> int | None:
        """Keep what is archived."""
        self.archived.append((path, channels, [part.name for part in parts]))
        await self.may_finish.wait()
        if isinstance(self.result, ArchiveError):
            raise self.result
        return self.result


class RecorderScene:
    """A recorder, its fakes, and the results of its commands."""

    def __init__(self) -> None:
        self.pbx = LoggingPbx()
        self.ami = FakeAmi()
        self.archiver = FakeArchiver()
        self.recorder = Recorder(self.pbx, self.ami, self.archiver)
        self.done: list[Event | None] = []

    async def run(self, *commands: RecordingCommand) -> None:
        """Run commands, and wait until all are done."""
        expected = len(self.done) + len(commands)
        for command in commands:
            self.recorder.run(command, CALL, self.done.append)
        await until(lambda: len(self.done) == expected, what="the commands to be done")


class LoggingPbx(RecordingPbx):
    """Keeps its queries, too."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[str] = []

    async def ask(self, request: Request) -> Reply:
        """Answer from what it shows."""
        self.requests.append(f"{request.method} {request.path}")
        return await super().ask(request)
