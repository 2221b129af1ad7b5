"""Timelines of calls, built beside live calls: in short pieces, one at a time, in turn by account.

A customer may request that of a call with thousands of events, often and at once.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Struct

from base.fair_slots import FairSlots
from base.limit import Limit
from engine.calls.model.call import Call
from engine.calls.model.commands import Command, EmitEvent
from engine.calls.model.events import ClockChanged
from engine.calls.model.sealed_digits import hide_sealed
from engine.calls.replay_audit import ReplayStep, replay, replay_on
from engine.rpc.account_queue import AccountQueue
from engine.rpc.views.calls import call_view, state_of, tagged_fields
from engine.rpc.views.replay_points import START, ReplayPoint, ReplayPoints, TimelineCursor
from engine.store.webhook_log import StoredAttempt
from engine.webhooks.log.logged_attempt import decompress
from wire.base import tag_of
from wire.events.call_events import Kind
from wire.verbs import Verb
from wire.views import Timeline, TimelineEntry
from wire.webhook_log import AttemptSummary

PIECE = 10  # events, of about 50 µs each; then live calls get their turn on the event loop
PIECE_BYTES = 16_384  # of their lines: an event may have a tree of 65 KB
MAX_MOMENTS = 5_000  # of a timeline: the latest
MAX_BYTES: Annotated[int, Limit("request", "left out", "Bytes of a timeline's moments.")] = (
    2_000_000
)
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


class _Step(NamedTuple):
    """A step of a replay, with the call before it, if that is not the first one."""

    before: Call | None
    step: ReplayStep
    size: int  # of its line


class _Latest:
    """The latest steps of a replay: so many, and of so many bytes."""

    def __init__(self, most: int, max_bytes: int) -> None:
        self.steps = deque[_Step]()
        self.omitted = 0
        self._most, self._left = most, max_bytes

    def add(self, step: _Step) -> None:
        """Add a step; at least this one is kept."""
        self.steps.append(step)
        self._left -= step.size
        while len(self.steps) > 1 and (len(self.steps) > self._most or self._left < 0):
            self._left += self.steps.popleft().size
            self.omitted += 1


async def build_timeline(
    history: CallHistory, max_moments: int = MAX_MOMENTS, max_bytes: int = MAX_BYTES
) -> tuple[Timeline, ReplayPoint]:
    """Replay a call's log through the core; returns also the point that the replay ends at."""
    after, attempts, pieces = history.after, history.attempts, Pieces()
    latest, point = _Latest(max_moments, max_bytes), history.start
    for each in _steps(history.log, point):
        point = ReplayPoint((point.lines or 1) + 1, each.step.call)
        if point.lines > after.lines:
            latest.add(each)
        await pieces.add(each.size)
    moments = await _moments(latest.steps, max_bytes, pieces)
    omitted = latest.omitted + len(latest.steps) - len(moments)
    summaries: list[AttemptSummary] = []
    for attempt in attempts:
        summaries += _summary(attempt)
        await pieces.add(len(attempt.body))
    newest = attempts[-1].id if attempts else after.attempt
    following = str(TimelineCursor(max(point.lines, after.lines), newest))
    view = call_view(history.call)
    return Timeline(view, tuple(moments), tuple(summaries), omitted, following), point


async def _moments(steps: deque[_Step], max_bytes: int, pieces: Pieces) -> list[TimelineEntry]:
    """Return the latest moments; each may be larger than its line, as it has commands."""
    moments, left = list[TimelineEntry](), max_bytes
    for each in reversed(steps):
        moment = _moment(each.before, each.step)
        size = len(msgspec.json.encode(moment))
        left -= size
        if left < 0 and moments:
            break
        moments.append(moment)
        await pieces.add(size)
    moments.reverse()
    return moments


def _steps(log: Sequence[bytes], start: ReplayPoint) -> Iterator[_Step]:
    before = start.call
    steps = replay(log) if before is None else replay_on(before, log)
    first = 1 if before is None else 0  # after the call itself
    for line, step in enumerate(steps, first):
        yield _Step(before, step, len(log[line]))
        before = step.call


def _moment(before: Call | None, step: ReplayStep) -> TimelineEntry:
    verb = step.call.state.running_verb if _has_started_verb(before, step) else None
    return TimelineEntry(
        step.at_ms,
        masked(tagged_fields(step.event)),
        tuple(masked(tagged_fields(each)) for each in step.commands if _is_shown(each)),
        state_of(step.call),
        _verb_view(verb) if verb is not None else None,
    )


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
