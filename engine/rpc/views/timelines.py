"""Timelines of calls, built beside live calls: in short pieces, one at a time, in turn by account.

A customer may request that of a call with thousands of events, often and at once.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from copy import deepcopy
from heapq import merge
from typing import Annotated, Any

import msgspec
from msgspec import Struct

from base.fair_slots import FairSlots
from base.limit import Limit
from base.timeline.rows import Reader, TimelineRows
from base.timeline.state import TimelineState
from base.timeline.timers import Moment
from engine.calls.model.call import Call
from engine.calls.model.commands import Command, EmitEvent
from engine.calls.model.events import ClockChanged
from engine.calls.model.sealed_digits import hide_sealed
from engine.calls.replay_audit import ReplayStep, replay, replay_on
from engine.calls.reporting.call_events import end_reason
from engine.rpc.account_queue import AccountQueue
from engine.rpc.views.calls import call_view, state_of, tagged_fields
from engine.rpc.views.replay_points import START, ReplayPoint, ReplayPoints, TimelineCursor
from engine.store.webhook_log import StoredAttempt
from engine.webhooks.log.logged_attempt import decompress
from wire.base import tag_of
from wire.events.call_events import Kind
from wire.verbs import Verb
from wire.views import Timeline, TimelineRow
from wire.webhook_log import AttemptSummary

PIECE = 10  # events, of about 50 µs each; then live calls get their turn on the event loop
PIECE_BYTES = 16_384  # of their lines: an event may have a tree of 65 KB
MAX_ROWS = 5_000  # of a timeline: the latest
MAX_BYTES: Annotated[int, Limit("request", "left out", "Bytes of a timeline's rows.")] = 2_000_000
MAX_TIMELINES = 20  # in progress and waiting
MAX_ACCOUNT_TIMELINES: Annotated[
    int, Limit("account", "429 `too_many_timelines`", "Timelines in progress in one engine.")
] = 4
_SHOWN: frozenset[Kind] = frozenset({"transfer", "conference", "conference-member", "gathered"})


class TimelineTurns:
    """Whose turn it is to get a timeline; `points` are where earlier ones ended."""

    def __init__(
        self, max_timelines: int = MAX_TIMELINES, max_account: int = MAX_ACCOUNT_TIMELINES
    ) -> None:
        self._queue = AccountQueue(
            "too_many_timelines", "timelines", most=max_timelines, most_of_account=max_account
        )
        self._turns = FairSlots(slots=1, of_account=1)
        self.points = ReplayPoints()

    @asynccontextmanager
    async def turn(self, account: str) -> AsyncIterator[None]:
        """Wait until no other timeline is in progress; raises LimitReached."""
        with self._queue.place(account):
            async with self._turns.slot(account):
                yield


class Pieces:
    """Cuts work on the events of a call into pieces."""

    def __init__(self) -> None:
        self._events = self._bytes = 0

    async def add(self, size: int) -> None:
        """Count an event of so many bytes; after some, live calls get their turn."""
        self._events += 1
        self._bytes += size
        if self._events >= PIECE or self._bytes >= PIECE_BYTES:
            self._events = self._bytes = 0
            await asyncio.sleep(0)


class CallHistory(Struct, frozen=True):
    """A call, and what the store has of it since a reader's last timeline.

    `log` has the lines from `start` on, `attempts` are those after the cursor.
    """

    call: Call
    log: Sequence[bytes]
    attempts: Sequence[StoredAttempt] = ()
    after: TimelineCursor = TimelineCursor()
    start: ReplayPoint = START


class _Latest:
    """The latest rows of a timeline: so many, and of so many bytes."""

    def __init__(self, most: int, max_bytes: int) -> None:
        self.rows = deque[TimelineRow]()
        self.omitted = 0
        self._sizes = deque[int]()
        self._most, self._left = most, max_bytes

    def add(self, row: TimelineRow) -> int:
        """Add a row; at least this one is kept. Returns its size."""
        size = len(msgspec.json.encode(row))
        self.rows.append(row)
        self._sizes.append(size)
        self._left -= size
        while len(self.rows) > 1 and (len(self.rows) > self._most or self._left < 0):
            self.rows.popleft()
            self._left += self._sizes.popleft()
            self.omitted += 1
        return size


async def build_timeline(
    history: CallHistory,
    reader: Reader = "operator",
    max_rows: int = MAX_ROWS,
    max_bytes: int = MAX_BYTES,
) -> tuple[Timeline, ReplayPoint]:
    """Replay a call's log through the core; returns also the point that the replay ends at."""
    call, log, after, pieces = history.call, history.log, history.after, Pieces()
    latest, point = _Latest(max_rows, max_bytes), history.start
    state = deepcopy(point.shown) or TimelineState(caller=call.from_, main=call.main)
    rows = TimelineRows(state, reader)
    steps = replay(log) if point.call is None else replay_on(point.call, log)
    for line, step in enumerate(steps, 1 if point.call is None else 0):  # after the call itself
        before, point = point.call, ReplayPoint((point.lines or 1) + 1, step.call, state)
        size = len(log[line])
        for row in _rows(rows, before, step):
            if point.lines > after.lines:
                size += latest.add(row)
        await pieces.add(size)
    attempts: list[AttemptSummary] = []
    for attempt in history.attempts:
        attempts += _summary(attempt)
        await pieces.add(len(attempt.body))
    newest = history.attempts[-1].id if history.attempts else after.attempt
    following = str(TimelineCursor(max(point.lines, after.lines), newest))
    shown = tuple(merge(latest.rows, rows.of_attempts(attempts), key=lambda each: each.at_ms))
    view = call_view(call)
    return Timeline(
        view, rows.lifelines(), shown, tuple(attempts), latest.omitted, following
    ), point


def _rows(rows: TimelineRows, before: Call | None, step: ReplayStep) -> Iterator[TimelineRow]:
    call = step.call
    verb = call.state.running_verb if _has_started_verb(before, step) else None
    commands = (each for each in step.commands if _is_shown(each))
    yield from rows.of_moment(
        Moment(
            step.at_ms,
            masked(tagged_fields(step.event)),
            tuple(masked(tagged_fields(each)) for each in commands),
            state_of(call),
            _verb_view(verb) if verb is not None else None,
        )
    )
    if call.is_ended and not (before and before.is_ended):
        yield from rows.of_end(call.status, end_reason(call) or "", call.ended_ms)


def masked(value: Any) -> Any:
    """Return a value in which sealed digits are dots."""
    match value:
        case str():
            return hide_sealed(value)
        case dict():
            return {name: masked(each) for name, each in value.items()}
        case list() | tuple():
            return [masked(each) for each in value]
        case _:
            return value


def _summary(stored: StoredAttempt) -> Iterator[AttemptSummary]:
    """Yield an attempt, if this version can read it."""
    attempt = decompress(stored.body)
    if attempt is not None:
        yield attempt.summary(stored.id)


def _has_started_verb(before: Call | None, step: ReplayStep) -> bool:
    """Return whether a step has started a verb; the count restarts after some minutes."""
    if before is None or isinstance(step.event, ClockChanged):  # which moves all times
        return before is None and step.call.verbs_started > 0
    is_reset = step.call.verbs_since_ms != before.verbs_since_ms
    return is_reset or step.call.verbs_started > before.verbs_started


def _verb_view(verb: Verb) -> dict[str, Any]:
    return {"type": tag_of(verb), "data": msgspec.to_builtins(verb.data)}


def _is_shown(command: Command) -> bool:
    """Return whether the timeline shows a command; of emitted events, sessions and digits."""
    return not isinstance(command, EmitEvent) or command.event.event in _SHOWN
