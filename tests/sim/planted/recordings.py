"""Planted faults of recording: parts that say they did, and did not, or too soon."""

from collections.abc import Sequence

from engine.ami.client import Answer
from engine.recordings.archiver import RecordingPart
from engine.runtime.recording.mixmonitor import Ami
from engine.runtime.recording.recorder import RecordingArchiver


class Mute:
    """A manager interface that says it did some actions, and did not."""

    def __init__(self, ami: Ami, drops: str) -> None:
        self._ami = ami
        self._drops = drops

    async def ask(self, action: str, fields: dict[str, str]) -> Answer:
        """Ask for an action, or not."""
        return Answer(True) if action == self._drops else await self._ami.ask(action, fields)


class Shredder:
    """A cabinet that says it filed, and did not."""

    def __init__(self, cabinet: RecordingArchiver) -> None:
        self._cabinet = cabinet

    async def file(self, path: str, channels: int, parts: Sequence[RecordingPart]) -> int | None:
        """File nothing."""
        del path, channels, parts
        return 1_000


class Piecemeal:
    """A cabinet that files the first of several tapes only."""

    def __init__(self, cabinet: RecordingArchiver) -> None:
        self._cabinet = cabinet

    async def file(self, path: str, channels: int, parts: Sequence[RecordingPart]) -> int | None:
        """File one."""
        return await self._cabinet.file(path, channels, parts[:1])
