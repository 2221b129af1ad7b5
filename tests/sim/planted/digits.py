"""Planted faults of DTMF over AMI."""

from typing import Any

from msgspec.structs import replace

from engine.ami.events import DtmfListener
from engine.ari.generated.events import ChannelDtmfReceived
from tests.sim.engine_run import OnEvent

HOUR_MS = 3_600_000


class DroppingDtmfListener:
    """Drops every digit."""

    def __init__(self, listener: DtmfListener) -> None:
        del listener

    def on_connected(self) -> None: ...

    def on_digit_started(self, channel: str, pbx_ms: int) -> None: ...

    def on_digit(self, channel: str, digit: str, held_ms: int, pbx_ms: int) -> None: ...

    def on_disconnected(self) -> None: ...


class FastDtmfListener:
    """Has a clock that is an hour fast, so that no digit is recognized as known."""

    def __init__(self, listener: DtmfListener) -> None:
        self._listener = listener

    def on_connected(self) -> None:
        self._listener.on_connected()

    def on_digit_started(self, channel: str, pbx_ms: int) -> None:
        self._listener.on_digit_started(channel, pbx_ms + HOUR_MS)

    def on_disconnected(self) -> None:
        self._listener.on_disconnected()

    def on_digit(self, channel: str, digit: str, held_ms: int, pbx_ms: int) -> None:
        self._listener.on_digit(channel, digit, held_ms, pbx_ms + HOUR_MS)


class KeylessDtmfListener(FastDtmfListener):
    """Reports digits at their end only."""

    def on_digit_started(self, channel: str, pbx_ms: int) -> None: ...

    def on_digit(self, channel: str, digit: str, held_ms: int, pbx_ms: int) -> None:
        self._listener.on_digit(channel, digit, held_ms, pbx_ms)


class ShorteningListener:
    """Reports every key as pressed and released at once."""

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event

    def __call__(self, event: Any) -> None:
        if isinstance(event, ChannelDtmfReceived):
            event = replace(event, duration_ms=0)
        self._on_event(event)
