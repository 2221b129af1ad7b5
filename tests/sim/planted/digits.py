"""Planted faults of what is heard over AMI."""

from engine.ami.monitor import DtmfListener

HOUR_MS = 3_600_000


class DroppingDtmfListener:
    """Hears nothing, though it should."""

    def __init__(self, listener: DtmfListener) -> None:
        del listener

    def on_digit(self, channel: str, digit: str, held_ms: int, pbx_ms: int) -> None:
        """Lose a key."""


class FastDtmfListener:
    """Goes by a clock that is an hour fast, so that no key is known again."""

    def __init__(self, listener: DtmfListener) -> None:
        self._listener = listener

    def on_digit(self, channel: str, digit: str, held_ms: int, pbx_ms: int) -> None:
        """Hear a key."""
        self._listener.on_digit(channel, digit, held_ms, pbx_ms + HOUR_MS)
