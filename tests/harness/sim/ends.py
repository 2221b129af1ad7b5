"""Who is at the other end of a simulated PBX's channels, as its lines know them."""

from typing import Protocol

from tests.harness.sim.channel import SimChannel, SimPlayback


class SimPhones(Protocol):
    """Who is at the other end of the channels."""

    def is_reachable(self, endpoint: str) -> bool:
        """Tell whether an endpoint exists."""

    def called(self, channel: SimChannel) -> None:
        """Be called."""

    def up(self, channel: SimChannel) -> None:
        """Be connected."""

    def hears(self, channel: SimChannel, playback: SimPlayback) -> None:
        """Hear a prompt begin."""
