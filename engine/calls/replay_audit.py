"""Replays a call's log through `step`, and compares the results with what was stored."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.commands import Command, EmitEvent
from engine.calls.model.events import Event
from engine.calls.model.storage_format import (
    DIGEST_FORM,
    StoredCall,
    decode_call,
    decode_log_entry,
    digest_of,
)
from engine.calls.step import step
from wire.events.call_events import CallEvent


class ReplayStep(Struct, frozen=True):
    """One replayed event, its time (wall-clock milliseconds), and its result.

    `digest` is that of the original commands; None if it can't be compared.
    """

    at_ms: int
    event: Event
    commands: tuple[Command, ...]
    call: Call
    digest: int | None = None

    @property
    def is_same(self) -> bool:
        """Whether the commands are the original ones, as far as that is known."""
        return self.digest in {None, digest_of(self.commands)}


def replay(log: Sequence[bytes]) -> Iterator[ReplayStep]:
    """Replay a call's log, whose first line is the initial call; raises DecodeError.

    Stops at the first lost line, which reads as empty bytes.
    """
    if log and log[0]:
        yield from replay_on(decode_call(log[0]), log[1:])


def replay_on(call: Call, lines: Sequence[bytes]) -> Iterator[ReplayStep]:
    """Replay the further lines of a log from the call that the earlier ones have led to."""
    for line in takewhile(bool, lines):
        entry = decode_log_entry(line)
        call, commands = step(call, entry.event, entry.now)
        digest = entry.digest if entry.form == DIGEST_FORM else None
        yield ReplayStep(entry.now, entry.event, commands, call, digest)


def find_gap(log: Sequence[bytes]) -> int | None:
    """Return the first line that the store has lost."""
    return log.index(b"") if b"" in log else None


class Mismatch(Struct, frozen=True):
    """One difference; `step` is the index of the replayed step."""

    detail: str
    step: int | None = None


class EventComparison(Struct, frozen=True):
    """The differences between events, and how many events the stream no longer has."""

    mismatches: tuple[Mismatch, ...]
    trimmed: int


def compare_decisions(steps: Iterable[ReplayStep], first: int = 0) -> Iterator[Mismatch]:
    """Yield the steps whose commands differ from the original ones; the first has index `first`."""
    for index, each in enumerate(steps, first):
        if not each.is_same:
            yield Mismatch("the commands differ", index)


def compare_result(last: ReplayStep | None, steps: int, stored: StoredCall) -> Iterator[Mismatch]:
    """Compare the result of a complete log, the last of so many steps, with the stored call."""
    if last is None:
        yield Mismatch("the call is stored, but its log is missing")
    elif last.call != stored.call:
        fields = _differing_fields(stored.call, last.call)
        yield Mismatch(f"the result differs from the stored call: {fields}", steps - 1)


def compare_events(
    steps: Iterable[tuple[int, ReplayStep]],
    events: Sequence[CallEvent],
    *,
    is_complete: bool = True,
) -> EventComparison:
    """Compare the replayed events with `events` of the stream, which may be trimmed.

    `steps` are those with events, and their indexes. If the log is not complete, events beyond its
    end are ignored.
    """
    expected = _expected_events(steps)
    found: dict[int, CallEvent] = {}
    mismatches = []
    for event in events:
        if event.sequence_number in found:
            mismatches.append(Mismatch(f"event {event.sequence_number} is on the stream twice"))
        found[event.sequence_number] = event
    if is_complete:
        unexpected = sorted(found.keys() - expected.keys())
        mismatches += [
            Mismatch(f"event {n} is on the stream, but not in the log") for n in unexpected
        ]
    oldest = min(found, default=max(expected, default=-1) + 1)
    for number, (index, replayed) in expected.items():
        original = found.get(number)
        if original is None and number > oldest:
            detail = f"event {number}, {replayed.event}, is not on the stream"
            mismatches.append(Mismatch(detail, index))
        elif original is not None and original != replayed:
            fields = _differing_fields(original, replayed)
            mismatches.append(Mismatch(f"event {number} differs from the stream: {fields}", index))
    return EventComparison(tuple(mismatches), sum(number < oldest for number in expected))


def _expected_events(
    steps: Iterable[tuple[int, ReplayStep]],
) -> Mapping[int, tuple[int, CallEvent]]:
    return {
        command.event.sequence_number: (index, command.event)
        for index, each in steps
        for command in each.commands
        if isinstance(command, EmitEvent)
    }


def _differing_fields(before: Struct, after: Struct) -> str:
    names = before.__struct_fields__
    return ", ".join(name for name in names if getattr(before, name) != getattr(after, name))
