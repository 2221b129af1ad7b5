"""AnsweringPhones: called parties that all ring and answer after a fixed time, and do no more."""

from tests.harness.sim.model import SimChannel, SimPlayback
from tests.harness.sim.phone import SimPhones

RING_AFTER_MS = 100
ANSWER_AFTER_MS = 4_000


class AnsweringPhones(SimPhones):
    """Parties of scripted worlds, where only the script presses keys and hangs up."""

    def called(self, channel: SimChannel) -> None:
        """Ring, then answer."""
        self._after(RING_AFTER_MS, self.pbx.rings, channel)
        self._after(ANSWER_AFTER_MS, self.pbx.answers, channel)

    def calls(self, channel: SimChannel) -> None:
        """Wait."""

    def up(self, channel: SimChannel) -> None:
        """Stay."""

    def hears(self, channel: SimChannel, playback: SimPlayback) -> None:
        """Listen."""
