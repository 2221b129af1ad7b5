"""A recorder, with a PBX, its manager and a cabinet that the test answers for."""

import asyncio
from collections.abc import Sequence

from engine.ami.client import AmiResponse, AmiUnavailable
from engine.ari.request import Reply, Request
from engine.calls.model.commands import RecordingCommand
from engine.calls.model.events import Event
from engine.recordings.archiver import RecordingPart
from engine.recordings.errors import ArchiveError
from engine.runtime.recording.recorder import Recorder
from tests.harness.until import until
from tests.unit.runtime.harness.recording_pbx import RecordingPbx

CALL = "0-pbx1-abcdefgh"
LEG = f"{CALL}.l0"
FIRST, SECOND = (f"acme~2026-11-21~{CALL}.k{n}~{n}~l0" for n in (1, 2))
MESSAGE = f"acme~2026-11-21~{CALL}.v3~3~l0"
SHOWN = f"channels/{LEG}/variable"


class HandAmi:
    """A manager interface that the test answers for; an exception is no answer."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.answers: list[AmiResponse | AmiUnavailable] = []

    async def ask(self, action: str, fields: dict[str, str]) -> AmiResponse:
        """Keep what is asked."""
        self.asked.append((action, fields))
        answer = self.answers.pop(0) if self.answers else AmiResponse(True)
        if isinstance(answer, AmiUnavailable):
            raise answer
        return answer


class HandCabinet:
    """A cabinet that files as it is told to, once it may."""

    def __init__(self) -> None:
        self.filed: list[tuple[str, int, list[str]]] = []
        self.outcome: int | ArchiveError | None = 1_200
        self.may = asyncio.Event()
        self.may.set()

    async def archive(self, path: str, channels: int, parts: Sequence[RecordingPart]) -> int | None:
        """Keep what is filed."""
        self.filed.append((path, channels, [part.name for part in parts]))
        await self.may.wait()
        if isinstance(self.outcome, ArchiveError):
            raise self.outcome
        return self.outcome


class Bench:
    """A recorder, what is around it, and what came of its commands."""

    def __init__(self) -> None:
        self.pbx = Deleting()
        self.ami = HandAmi()
        self.cabinet = HandCabinet()
        self.recorder = Recorder(self.pbx, self.ami, self.cabinet)
        self.done: list[Event | None] = []

    async def run(self, *commands: RecordingCommand) -> None:
        """Do commands, and wait until all are done."""
        wanted = len(self.done) + len(commands)
        for command in commands:
            self.recorder.run(command, CALL, self.done.append)
        await until(lambda: len(self.done) == wanted, what="the commands to be done")


class Deleting(RecordingPbx):
    """Keeps what is asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def ask(self, request: Request) -> Reply:
        """Answer from what it shows."""
        self.asked.append(f"{request.method} {request.path}")
        return await super().ask(request)
