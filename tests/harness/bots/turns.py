"""Turns of a conversation by telephone: when the other side has spoken, and what was heard.

A machine that is busy only makes them later: silence is measured in received audio.
"""

import numpy as np

from tests.harness.phones.audio import FRAME_MS, Frame, Samples, is_sound
from tests.harness.phones.phone import Phone
from tests.harness.until import until

TURN_S = 90.0  # a turn at most: recognition, synthesis and the speech itself
STOP_MS = 600  # longer than the pauses between two sentences
_POLL_S = 0.1


class Turn:
    """What a phone hears from now on."""

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._first = len(phone.frames)

    @property
    def frames(self) -> list[Frame]:
        """Return what was heard."""
        return self._phone.frames[self._first :]

    @property
    def stopped_ms(self) -> float:
        """Return when the sound ceased that was heard at the beginning; 0 if it has not yet."""
        last_ms = 0.0
        for each in self.frames:
            if is_sound(each.samples):
                last_ms = each.at_ms
            elif last_ms and each.at_ms - last_ms >= STOP_MS:
                return last_ms
        return 0

    def recording(self) -> Samples:
        """Return what was heard as one piece."""
        return np.concatenate([each.samples for each in self.frames])

    @property
    def speech_ms(self) -> int:
        """Return how much sound was heard."""
        return FRAME_MS * sum(is_sound(each.samples) for each in self.frames)

    @property
    def quiet_ms(self) -> int:
        """Return for how long there has been silence, if there was sound before."""
        for count, each in enumerate(reversed(self.frames)):
            if is_sound(each.samples):
                return FRAME_MS * count
        return 0

    async def until_spoken(self, at_least_ms: int, what: str) -> None:
        """Wait until there was this much sound."""
        await until(
            lambda: self.speech_ms >= at_least_ms, timeout_s=TURN_S, every_s=_POLL_S, what=what
        )

    async def until_over(self, what: str, quiet_ms: int = 1_000) -> None:
        """Wait until there was sound, and then silence for so long."""
        await until(lambda: self.quiet_ms >= quiet_ms, timeout_s=TURN_S, every_s=_POLL_S, what=what)

    async def until_quiet(self, what: str, quiet_ms: int = 1_000) -> None:
        """Wait until there was silence for so long, whatever was heard before."""

        def is_quiet() -> bool:
            recent = self.frames[-quiet_ms // FRAME_MS :]
            return len(recent) * FRAME_MS >= quiet_ms and not any(
                is_sound(each.samples) for each in recent
            )

        await until(is_quiet, timeout_s=TURN_S, every_s=_POLL_S, what=what)
