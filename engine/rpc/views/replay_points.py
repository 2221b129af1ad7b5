"""Where replays of calls' logs got to: whoever follows a live call replays only what is new.

That a live call is watched costs then as much after an hour as at its beginning.
"""

import re
from collections import OrderedDict
from typing import Self

from msgspec import Struct

from base.timeline.state import TimelineState
from engine.calls.model.call import Call
from engine.store.webhook_log import OLDEST
from wire.decoding.errors import BadInput

MAX_POINTS = 256  # of all calls; a call takes some kilobytes
_CURSOR = re.compile(r"(\d{1,9})\.(\d{1,15}-\d{1,9})", re.ASCII)


class TimelineCursor(Struct, frozen=True):
    """What a reader of a timeline has: so many lines of the log, and the attempts up to one."""

    lines: int = 0
    attempt: str = OLDEST

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Parse what `str` has returned; raises BadInput."""
        if text is None:
            return cls()
        found = _CURSOR.fullmatch(text)
        if found is None:
            raise BadInput("after", "expected the `next` of a timeline")
        return cls(int(found[1]), found[2])

    def __str__(self) -> str:
        return f"{self.lines}.{self.attempt}"


class ReplayPoint(Struct, frozen=True):
    """A call after some lines of its log, and what its timeline has shown until then."""

    lines: int = 0
    call: Call | None = None
    shown: TimelineState | None = None


START = ReplayPoint()


class ReplayPoints:
    """The points that replays reached last; several of a call, as it may have several readers."""

    def __init__(self, most: int = MAX_POINTS) -> None:
        self._most = most
        self._calls: OrderedDict[tuple[str, int], ReplayPoint] = OrderedDict()

    def before(self, call_id: str, lines: int) -> ReplayPoint:
        """Return the last point of a call that is not after a line."""
        known = [at for found, at in self._calls if found == call_id and at <= lines]
        if not known:
            return START
        key = call_id, max(known)
        self._calls.move_to_end(key)
        return self._calls[key]

    def add(self, call_id: str, point: ReplayPoint) -> None:
        """Keep a point; the one that was of no use for longest is dropped."""
        if point.call is None:
            return
        key = call_id, point.lines
        self._calls[key] = point
        self._calls.move_to_end(key)
        while len(self._calls) > self._most:
            self._calls.popitem(last=False)
