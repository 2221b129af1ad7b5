"""SimManager: the keys of one PBX, as its manager interface tells them to all who are logged in."""

from random import Random
from typing import NamedTuple

from engine.ami.dtmf import DtmfListener
from tests.harness.sim.clock import SimClock

LAG_MS = 20  # after ARI at most (measured: docs/asterisk.md)


class _Login(NamedTuple):
    listener: DtmfListener
    owner: object


class SimManager:
    """Stamps keys a moment after ARI has, and tells them in order."""

    def __init__(self, clock: SimClock) -> None:
        self._clock = clock
        # Chance of its own: who hears keys a moment earlier changes nothing else.
        self._random = Random("manager").random
        self._logins: list[_Login] = []
        self._stamped_ms = 0.0

    def log_in(self, listener: DtmfListener, owner: object = None) -> None:
        """Tell a listener too, from now on."""
        self._logins.append(_Login(listener, owner))

    def log_out(self, owner: object) -> None:
        """Tell an owner's listeners no more."""
        self._logins = [each for each in self._logins if each.owner is not owner]

    def emit(self, channel: str, digit: str, held_ms: int) -> None:
        """Tell that a key was let go just now."""
        lag_ms = LAG_MS * self._random() ** 4  # mostly next to none
        self._stamped_ms = max(self._stamped_ms, self._clock.at_ms + lag_ms)
        for listener, owner in self._logins:
            stamped = (channel, digit, held_ms, int(self._stamped_ms))
            self._clock.at(self._stamped_ms + 0.3, listener.on_digit, owner, *stamped)
