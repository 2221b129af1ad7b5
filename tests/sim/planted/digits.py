"""Planted faults of DTMF over AMI."""

from engine.ami.monitor import DtmfListener

HOUR_MS = 3_600_000


class DroppingDtmfListener:
    """Drops every digit."""

    def __init__(self, listener: DtmfListener) -> None:
        del listener

    def on_digit(self, channel: str, digit: str, held_ms: int, pbx_ms: int) -> None: ...


class FastDtmfListener:
    """Has a clock that is an hour fast, so that no digit is recognized as known."""

    def __init__(self, listener: DtmfListener) -> None:
        self._listener = listener

    def on_digit(self, channel: str, digit: str, held_ms: int, pbx_ms: int) -> None:
        self._listener.on_digit(channel, digit, held_ms, pbx_ms + HOUR_MS)
