"""SimManager: the DTMF events that a PBX sends over AMI to every login."""

from random import Random
from typing import NamedTuple

from engine.ami.events import DtmfListener
from tests.harness.sim.clock import SimClock

LAG_MS = 20  # maximum delay behind ARI (measured: docs/asterisk.md)


class _Login(NamedTuple):
    listener: DtmfListener
    owner: object


class SimManager:
    """Timestamps digits shortly after ARI does, and delivers them in order."""

    def __init__(self, clock: SimClock) -> None:
        self._clock = clock
        # A separate random generator, so that AMI delays do not change the rest of the world.
        self._random = Random("manager").random
        self._logins: list[_Login] = []
        self._stamped_ms = 0.0
        self._lag = Random("key-down").random

    def log_in(self, listener: DtmfListener, owner: object = None) -> None:
        """Add a listener."""
        self._logins.append(_Login(listener, owner))
        listener.on_connected()

    def log_out(self, owner: object) -> None:
        """Remove an owner's listeners."""
        self._logins = [each for each in self._logins if each.owner is not owner]

    def emit_started(self, channel: str) -> None:
        """Emit that a key went down just now."""
        self._stamped_ms = max(self._stamped_ms, self._clock.at_ms + LAG_MS * self._lag() ** 4)
        for listener, owner in self._logins:
            stamped = (channel, int(self._stamped_ms))
            self._clock.at(self._stamped_ms + 0.3, listener.on_digit_started, owner, *stamped)

    def emit(self, channel: str, digit: str, held_ms: int) -> None:
        """Emit a digit whose key was released just now."""
        lag_ms = LAG_MS * self._random() ** 4  # mostly close to 0
        self._stamped_ms = max(self._stamped_ms, self._clock.at_ms + lag_ms)
        for listener, owner in self._logins:
            stamped = (channel, digit, held_ms, int(self._stamped_ms))
            self._clock.at(self._stamped_ms + 0.3, listener.on_digit, owner, *stamped)
