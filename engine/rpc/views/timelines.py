"""Timelines of calls, built beside live calls: in short pieces, and one at a time.

A customer may request that of a call with thousands of events, often and at once.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

import msgspec
from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.commands import Command, EmitEvent
from engine.calls.model.events import ClockChanged
from engine.calls.model.sealed_digits import hide_sealed
from engine.calls.model.state_traits import running_verb
from engine.calls.replay_audit import ReplayStep, replay, replay_on
from engine.rpc.account_queue import AccountQueue
from engine.rpc.views.calls import call_view, state_of, tagged_fields
from engine.rpc.views.replay_points import START, ReplayPoint, ReplayPoints, TimelineCursor
from engine.store.webhook_log import StoredAttempt
from engine.webhooks.log.codec import decompress
from wire.base import tag_of
from wire.events.call_events import Kind
from wire.programs.limit import Limit
from wire.verbs import Verb
from wire.views import Timeline, TimelineEntry
from wire.webhook_log import AttemptSummary

PIECE = 10  # events, of about 50 µs each; then live calls get their turn on the event loop
MAX_MOMENTS = 5_000  # of a timeline: the latest
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
        self._turn = asyncio.Lock()
        self.points = ReplayPoints()

    @asynccontextmanager
    async def turn(self, account: str) -> AsyncIterator[None]:
        """Wait until no other timeline is in progress; raises LimitReached."""
        with self._queue.place(account):
            async with self._turn:
                yield


class CallHistory(Struct, frozen=True):
    """A call, and what the store has of it since a reader's last timeline.

    `log` has the lines from `start` on, `attempts` are those after the cursor.
    """

    call: Call
    log: Sequence[bytes]
    attempts: Sequence[StoredAttempt] = ()
    after: TimelineCursor = TimelineCursor()
    start: ReplayPoint = START


async def build_timeline(
    history: CallHistory, max_moments: int = MAX_MOMENTS
) -> tuple[Timeline, ReplayPoint]:
    """Replay a call's log through the core; returns also the point that the replay ends at."""
    latest = deque[tuple[Call | None, ReplayStep]](maxlen=max_moments)
    after, attempts = history.after, history.attempts
    omitted, point = 0, history.start
    for number, (before, step) in enumerate(_steps(history.log, point), 1):
        point = ReplayPoint((point.lines or 1) + 1, step.call)
        if point.lines > after.lines:
            omitted += len(latest) == max_moments
            latest.append((before, step))
        if number % PIECE == 0:
            await asyncio.sleep(0)
    moments: list[TimelineEntry] = []
    for number, (before, step) in enumerate(latest, 1):
        moments.append(_moment(before, step))
        if number % PIECE == 0:
            await asyncio.sleep(0)
    summaries: list[AttemptSummary] = []
    for number, each in enumerate(attempts, 1):
        summaries += _summary(each)
        if number % PIECE == 0:
            await asyncio.sleep(0)
    newest = attempts[-1].id if attempts else after.attempt
    following = str(TimelineCursor(max(point.lines, after.lines), newest))
    view = call_view(history.call)
    timeline = Timeline(view, tuple(moments), tuple(summaries), omitted, following)
    return timeline, point


def _steps(log: Sequence[bytes], start: ReplayPoint) -> Iterator[tuple[Call | None, ReplayStep]]:
    """Yield each step with the call before it, if that is not the first one."""
    before = start.call
    for step in replay(log) if before is None else replay_on(before, log):
        yield before, step
        before = step.call


def _moment(before: Call | None, step: ReplayStep) -> TimelineEntry:
    verb = running_verb(step.call.state) if _has_started_verb(before, step) else None
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
