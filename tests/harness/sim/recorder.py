"""SimAmi and SimArchiver: one life's ways to what a PBX records, and to the archive."""

import random
from collections.abc import Sequence
from typing import Protocol

from engine.ami.client import AmiResponse, AmiUnavailable
from engine.recordings.archiver import RecordingPart
from engine.recordings.errors import ArchiveError
from tests.harness.sim.connection import SimLine
from tests.harness.sim.events import SimWeather

Filed = dict[str, tuple[str, ...]]  # the tapes of each recording in the archive


class Away(Protocol):
    """What can be away."""

    @property
    def is_up(self) -> bool:
        """Whether it is there."""


class SimAmi:
    """Implements `engine.runtime.recording.recorder.Ami`."""

    def __init__(self, line: SimLine, weather: SimWeather) -> None:
        self._line = line
        self._weather = weather

    async def ask(self, action: str, fields: dict[str, str]) -> AmiResponse:
        """Ask for an action; its answer may be lost, and the engine may die at either end."""
        line = self._line
        await _pass(line, self._weather, "action")
        await line.loop.sleep(line.way_ms())
        if not line.is_up:
            raise AmiUnavailable("sim: down")
        answer = line.pbx.manage(action, fields)
        if noticed_ms := self._weather.loses():
            await line.loop.sleep(noticed_ms)
            raise AmiUnavailable("sim: the answer was lost")
        await line.loop.sleep(line.way_ms())
        await _pass(line, self._weather, "answer")
        return answer


class SimArchiver:
    """A simulated RecordingArchiver; it is unavailable while the store is."""

    def __init__(
        self,
        line: SimLine,
        store: Away,
        weather: SimWeather,
        archive: Filed,
        chance: random.Random,
    ) -> None:
        self._line = line
        self._store = store
        self._weather = weather
        self._archive = archive
        self._chance = chance

    async def archive(self, path: str, channels: int, parts: Sequence[RecordingPart]) -> int | None:
        """File tapes, now and then so slowly that a call does not wait."""
        del channels
        pbx = self._line.pbx
        await self._line.loop.sleep(2)
        if not (self._store.is_up and self._line.is_up):
            raise ArchiveError("archive", "sim: away")
        if path not in self._archive:
            names = tuple(part.name for part in parts if part.name in pbx.files)
            if not names:
                return None
            live = [name for name in names if pbx.files[name].is_live]
            pbx.wrong += [(name, "filed while it was recorded") for name in live]
            await self._line.loop.sleep(self._chance.choice((2, 5, 30, 15_000)))
            await _pass(self._line, self._weather, "file")
            self._archive[path] = names
            await _pass(self._line, self._weather, "filed")
        return 1_000


async def _pass(line: SimLine, weather: SimWeather, boundary: str) -> None:
    """Pass a boundary; an engine that dies there goes no further."""
    if not weather.passes(boundary):
        await line.loop.create_future()
