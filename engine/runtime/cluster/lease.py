"""A slot's lease as its owner knows it: by its monotonic clock, which a frozen process can't stop.

Who sleeps past the end finds `holds` false at the first look, before any timer or event has run.
"""

from collections.abc import Callable
from math import inf

from engine.ari.request import LOST, Done, Reply, Request
from engine.calls.model.commands import TapeCommand
from engine.calls.model.events import Event
from engine.runtime.base.ports import Pbx
from engine.runtime.recording.recorder import Recorder


class Lease:
    """Ours until a moment, unless it is made longer."""

    def __init__(self, token: int, ends_s: float, monotonic: Callable[[], float]) -> None:
        self.token = token
        self._ends_s = ends_s
        self._monotonic = monotonic

    @property
    def holds(self) -> bool:
        """Whether nobody else can have the slot yet."""
        return self._monotonic() < self._ends_s

    def lasts(self, ends_s: float) -> None:
        """Be ours until a later moment."""
        self._ends_s = ends_s

    def end(self) -> None:
        """Be over: what an earlier answer would lead to is the next owner's to do."""
        self._ends_s = -inf


class FencedPbx:
    """A PBX that a slot's owner commands: what is asked without a lease goes nowhere.

    Its answer never comes; who lost the lease asks the PBX anew when he has another.
    """

    def __init__(self, pbx: Pbx, lease: Lease) -> None:
        self._pbx = pbx
        self._lease = lease

    def send(self, request: Request, key: str, may_block: bool, done: Done) -> None:
        """Send a request on, if the slot is ours."""
        if self._lease.holds:
            self._pbx.send(request, key, may_block, done)

    async def ask(self, request: Request) -> Reply:
        """Ask, off every call's path."""
        return await self._pbx.ask(request) if self._lease.holds else LOST


class FencedRecorder:
    """What records a slot's calls: without a lease nothing is begun or ended on any tape."""

    def __init__(self, recorder: Recorder, lease: Lease) -> None:
        self.leave = recorder.leave
        self._recorder = recorder
        self._lease = lease

    def run(self, command: TapeCommand, call: str, done: Callable[[Event | None], None]) -> None:
        """Do a command, as long as the slot is ours."""
        self._recorder.run(command, call, done, lambda: self._lease.holds)
