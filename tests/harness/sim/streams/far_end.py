"""FarEnd: what a simulated gateway connects a stream with: a bot, or a recognizer."""

from collections.abc import Callable
from typing import Protocol

from wire.streams.reports import EndReason, LiveStream, Report, StreamEnded, Transcribed


class Host(Protocol):
    """The gateway, as its far ends see it."""

    def now_ms(self) -> int:
        """Return the wall clock."""

    def after(self, delay_ms: float, callback: Callable[..., object], *args: object) -> None:
        """Schedule a callback, unless the gateway dies before."""

    def report(self, report: Report) -> None:
        """Report to all engines that listen."""

    def finish(self, stream: str, reason: EndReason, detail: str = "") -> None:
        """End a stream."""

    def hears_caller(self, stream: str) -> bool:
        """Return whether the PBX sends a stream what a caller says."""


class FarEnd:
    """The far end of one stream."""

    def __init__(self, stream: str, host: Host) -> None:
        self.stream = stream
        self.is_connected = False
        self.heard_ms = 0
        self.last_mark = ""
        self.transcript: Transcribed | None = None
        self.ended: StreamEnded | None = None
        self.is_closed = False
        self._host = host

    def connect(self) -> None:
        """Accept the stream, or end it."""
        raise NotImplementedError

    def close(self) -> None:
        """Take the end of the stream: nothing more is reported."""
        self.is_closed = True

    def live(self) -> LiveStream:
        """Return what a snapshot says of it."""
        return LiveStream(
            self.stream, self.is_connected, self.heard_ms, self.last_mark, self.transcript
        )

    def _tell(self, report: Report) -> None:
        if not self.is_closed:
            self._host.report(report)
