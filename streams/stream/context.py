"""What streams share: clocks, reports, metrics, detectors of voices, and limits of accounts."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from streams.bots.limits import Accounts
from streams.bots.loop_shares import Reader
from streams.stream.metrics import StreamMetrics
from streams.stream.playout import PbxSink
from streams.stream.voice import VoiceJudges
from wire.streams.reports import StreamReport


class PbxLink(PbxSink, Protocol):
    """The PBX's end of a stream."""

    def close(self) -> None: ...


class BotLink(Reader, Protocol):
    """The bot's end of a stream."""

    def send_text(self, data: bytes) -> None: ...

    def send_binary(self, data: bytes) -> None: ...

    def close(self) -> None: ...


class StreamContext(Struct, frozen=True):
    """`now_ms` is of a clock that is never set; `wall_ms` is the time of day."""

    now_ms: Callable[[], float]
    wall_ms: Callable[[], float]
    report: Callable[[StreamReport], None]
    metrics: StreamMetrics
    judges: VoiceJudges
    accounts: Accounts
