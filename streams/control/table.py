"""The streams of a gateway: live ones, and those that have ended and are not forgotten yet."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator

from msgspec import Struct

from streams.stream.stream import Stream
from wire.streams.reports import DrainStarted, Report, Snapshot, StreamEnded

KEPT_ENDED_MS = 600_000


class NoRoom(Exception):
    """The gateway takes no stream now, or none of this account."""


class Room(Struct, frozen=True):
    """How many streams a gateway has at a time, and how many of them one account.

    An account gets a share of what the other accounts leave. So none can take all, nor can a few
    together: with a share of half, the first has half of the streams, the second a quarter.
    """

    streams: int
    account_share: int = 100  # percent


class StreamTable:
    """Streams by id; `now_ms` is of a clock that is never set."""

    def __init__(
        self, report: Callable[[Report], None], now_ms: Callable[[], float], room: Room
    ) -> None:
        self._report = report
        self._now_ms = now_ms
        self._room = room
        self._live: dict[str, Stream] = {}
        self._accounts = Counter[str]()  # of the live ones
        self._ended: dict[str, tuple[float, StreamEnded]] = {}
        self._empty = asyncio.Event()
        self._empty.set()
        self.is_draining = False

    def __len__(self) -> int:
        return len(self._live)

    def __iter__(self) -> Iterator[Stream]:
        return iter(tuple(self._live.values()))

    def has(self, stream_id: str) -> bool:
        """Return whether a stream is live or has ended."""
        return stream_id in self._live or stream_id in self._ended

    def live(self, stream_id: str) -> Stream | None:
        """Return a live stream."""
        return self._live.get(stream_id)

    def check_room(self, account: str) -> None:
        """Raise NoRoom if there is none for another stream of an account."""
        if self.is_draining:
            raise NoRoom("this gateway shuts down")
        room, own = self._room, self._accounts[account]
        if len(self._live) >= room.streams:
            raise NoRoom(f"this gateway has {room.streams} streams, as many as it may")
        left_by_others = room.streams - (len(self._live) - own)
        if own * 100 >= left_by_others * room.account_share:
            raise NoRoom(f"this account has {own} streams of this gateway, as many as it may")

    def add(self, stream: Stream) -> None:
        """Add a live stream."""
        self._live[stream.id] = stream
        self._accounts[stream.setup.account] += 1
        self._empty.clear()

    def end(self, stream: Stream, report: StreamEnded) -> None:
        """Keep the last report of a stream until it is forgotten."""
        del self._live[stream.id]
        account = stream.setup.account
        self._accounts[account] -= 1
        if not self._accounts[account]:
            del self._accounts[account]
        self._ended[stream.id] = self._now_ms(), report
        self._report(report)
        if not self._live:
            self._empty.set()

    async def wait_empty(self) -> None:
        """Return when no stream is live."""
        await self._empty.wait()

    def forget(self, stream_id: str) -> None:
        """Forget a stream that has ended."""
        self._ended.pop(stream_id, None)

    def forget_old(self) -> None:
        """Forget streams that ended ten minutes ago."""
        limit_ms = self._now_ms() - KEPT_ENDED_MS
        for stream_id, (at_ms, _) in tuple(self._ended.items()):
            if at_ms > limit_ms:
                return  # they are in the order of their ends
            del self._ended[stream_id]

    def drain(self) -> None:
        """Take no more streams."""
        if not self.is_draining:
            self.is_draining = True
            self._report(DrainStarted())

    def snapshot(self) -> Snapshot:
        """Return what an engine gets first."""
        return Snapshot(
            tuple(stream.live() for stream in self._live.values()),
            tuple(report for _, report in self._ended.values()),
            self.is_draining,
        )
