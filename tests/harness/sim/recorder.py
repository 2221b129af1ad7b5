"""SimAmi and SimArchiver: one engine's access to a PBX's recordings and to the archive."""

import random
from collections.abc import Sequence
from typing import Protocol

from engine.ami.client import AmiResponse, AmiUnavailable
from engine.recordings import ArchiveError, RecordingPart
from tests.harness.sim.connection import SimConnection
from tests.harness.sim.events import SimFaults

Archive = dict[str, tuple[str, ...]]  # path: names of its recording files


class Reachable(Protocol):
    """A part that can be down."""

    @property
    def is_up(self) -> bool: ...


class SimAmi:
    """Implements `engine.runtime.recording.recorder.Ami`."""

    def __init__(self, connection: SimConnection, faults: SimFaults) -> None:
        self._connection = connection
        self._faults = faults

    async def ask(self, action: str, fields: dict[str, str]) -> AmiResponse:
        """Send an action; its response may be lost, and the engine may die before or after it."""
        connection = self._connection
        await _pass(connection, self._faults, "action")
        await connection.loop.sleep(connection.way_ms())
        if not connection.is_up:
            raise AmiUnavailable("sim: down")
        answer = connection.pbx.manage(action, fields)
        if noticed_ms := self._faults.loses():
            await connection.loop.sleep(noticed_ms)
            raise AmiUnavailable("sim: the answer was lost")
        await connection.loop.sleep(connection.way_ms())
        await _pass(connection, self._faults, "answer")
        return answer


class SimArchiver:
    """A simulated RecordingArchiver; it is unavailable while the store is."""

    def __init__(
        self,
        connection: SimConnection,
        store: Reachable,
        faults: SimFaults,
        archive: Archive,
        own_rng: random.Random,
    ) -> None:
        self._connection = connection
        self._store = store
        self._faults = faults
        self._archive = archive
        self._own_rng = own_rng

    async def archive(self, path: str, channels: int, parts: Sequence[RecordingPart]) -> int | None:
        """Archive recordings, sometimes so slowly that the call ends before."""
        del channels
        pbx = self._connection.pbx
        await self._connection.loop.sleep(2)
        if not (self._store.is_up and self._connection.is_up):
            raise ArchiveError("archive", "sim: away")
        if path not in self._archive:
            names = tuple(part.name for part in parts if part.name in pbx.files)
            if not names:
                return None
            live = [name for name in names if pbx.files[name].is_live]
            pbx.violations += [(name, "archived while it was recorded") for name in live]
            await self._connection.loop.sleep(self._own_rng.choice((2, 5, 30, 15_000)))
            await _pass(self._connection, self._faults, "archive")
            self._archive[path] = names
            await _pass(self._connection, self._faults, "archived")
        return 1_000


async def _pass(connection: SimConnection, faults: SimFaults, boundary: str) -> None:
    """Pass a boundary; an engine that dies there never returns."""
    if not faults.passes(boundary):
        await connection.loop.create_future()
