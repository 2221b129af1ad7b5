"""Planted recording faults: parts that report success without doing the work."""

from collections.abc import Sequence

from engine.ami.client import AmiResponse
from engine.recordings import RecordingPart
from engine.runtime.recording.recorder import Ami, RecordingArchiver


class DroppingAmi:
    """An AMI connection that reports success for some actions but drops them."""

    def __init__(self, ami: Ami, drops: str) -> None:
        self._ami = ami
        self._drops = drops

    async def ask(self, action: str, fields: dict[str, str]) -> AmiResponse:
        return AmiResponse(True) if action == self._drops else await self._ami.ask(action, fields)


class LosingArchiver:
    """An archiver that reports success but stores nothing."""

    def __init__(self, archiver: RecordingArchiver) -> None:
        self._archiver = archiver

    async def archive(self, path: str, channels: int, parts: Sequence[RecordingPart]) -> int | None:
        del path, channels, parts
        return 1_000


class FirstPartArchiver:
    """An archiver that stores only the first of several parts."""

    def __init__(self, archiver: RecordingArchiver) -> None:
        self._archiver = archiver

    async def archive(self, path: str, channels: int, parts: Sequence[RecordingPart]) -> int | None:
        return await self._archiver.archive(path, channels, parts[:1])
