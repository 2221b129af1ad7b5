"""Planted faults of what is heard over AMI."""

from engine.ami.dtmf import DtmfListener

HOUR_MS = 3_600_000


class Closed:
    """Hears nothing, though it should."""

    def __init__(self, keys: DtmfListener) -> None:
        del keys

    def on_digit(self, channel: str, digit: str, held_ms: int, pbx_ms: int) -> None:
        """Lose a key."""


class Fast:
    """Goes by a clock that is an hour fast, so that no key is known again."""

    def __init__(self, keys: DtmfListener) -> None:
        self._keys = keys

    def on_digit(self, channel: str, digit: str, held_ms: int, pbx_ms: int) -> None:
        """Hear a key."""
        self._keys.on_digit(channel, digit, held_ms, pbx_ms + HOUR_MS)
