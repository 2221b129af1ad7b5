"""Running a call's recorded events through the core again: the same commands, or the log lies."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.codec import (
    DIGEST_FORM,
    StoredCall,
    decode_call,
    decode_log_entry,
    digest_of,
)
from engine.calls.model.commands import Command, EmitEvent
from engine.calls.model.events import Event
from engine.calls.step import step
from wire.events import CallEvent


class ReplayStep(Struct, frozen=True):
    """One step: the event, when it came (wall-clock milliseconds), and what it led to.

    `digest` is of the commands that it led to when it happened, None where it can't be compared.
    """

    at_ms: int
    event: Event
    commands: tuple[Command, ...]
    call: Call
    digest: int | None = None

    @property
    def is_same(self) -> bool:
        """Whether the core decides now what it decided then, as far as that is known."""
        return self.digest in {None, digest_of(self.commands)}


def replay(log: Sequence[bytes]) -> Iterator[ReplayStep]:
    """Run a call's log, whose first line is the call as it was opened; raises DecodeError.

    The story ends where the store has lost a line, which reads as empty bytes.
    """
    if not log or not log[0]:
        return
    call = decode_call(log[0])
    for line in takewhile(bool, log[1:]):
        entry = decode_log_entry(line)
        call, commands = step(call, entry.event, entry.now)
        digest = entry.digest if entry.form == DIGEST_FORM else None
        yield ReplayStep(entry.now, entry.event, commands, call, digest)


def find_gap(log: Sequence[bytes]) -> int | None:
    """Tell which line is the first that the store has lost."""
    return next((place for place, line in enumerate(log) if not line), None)


class Mismatch(Struct, frozen=True):
    """One thing that is not as it was; `place` is the moment's, counted from 0."""

    detail: str
    step: int | None = None


class EventComparison(Struct, frozen=True):
    """What is wrong with what was told, and how much of it is no longer on the stream."""

    mismatches: tuple[Mismatch, ...]
    trimmed: int


def compare_decisions(moments: Iterable[ReplayStep]) -> Iterator[Mismatch]:
    """Find the moments upon which the core decides otherwise now."""
    for place, moment in enumerate(moments):
        if not moment.is_same:
            yield Mismatch("decides otherwise", place)


def compare_result(moments: Sequence[ReplayStep], record: StoredCall) -> Iterator[Mismatch]:
    """Compare where a whole log leads with the call as it is stored."""
    now = moments[-1].call if moments else None
    if now is None:
        yield Mismatch("the log is gone, and the record is there")
    elif now != record.call:
        names = record.call.__struct_fields__
        unlike = [name for name in names if getattr(now, name) != getattr(record.call, name)]
        yield Mismatch(
            f"leads to another call than is stored: {', '.join(unlike)}", len(moments) - 1
        )


def compare_events(
    moments: Sequence[ReplayStep], told: Sequence[CallEvent], *, is_whole: bool = True
) -> EventComparison:
    """Compare what is told with what is on the stream, whose oldest part may be gone.

    Of a log that is not whole, what was told after its hole is not looked at.
    """
    due = _expected_events(moments)
    there: dict[int, CallEvent] = {}
    faults = []
    for event in told:
        if event.sequence_number in there:
            faults.append(Mismatch(f"event {event.sequence_number} is on the stream twice"))
        there[event.sequence_number] = event
    if is_whole:
        more = sorted(there.keys() - due.keys())
        faults += [Mismatch(f"event {number} was told, and is not in the log") for number in more]
    oldest = min(there, default=max(due, default=-1) + 1)
    for number, (place, event) in due.items():
        found = there.get(number)
        if found is None and number > oldest:
            faults.append(Mismatch(f"event {number}, {event.event}, is not on the stream", place))
        elif found is not None and found != event:
            faults.append(
                Mismatch(
                    f"event {number} was told otherwise: {_differing_fields(found, event)}", place
                )
            )
    return EventComparison(tuple(faults), sum(number < oldest for number in due))


def _expected_events(moments: Sequence[ReplayStep]) -> Mapping[int, tuple[int, CallEvent]]:
    return {
        command.event.sequence_number: (place, command.event)
        for place, moment in enumerate(moments)
        for command in moment.commands
        if isinstance(command, EmitEvent)
    }


def _differing_fields(was: CallEvent, now: CallEvent) -> str:
    names = was.__struct_fields__
    return ", ".join(name for name in names if getattr(was, name) != getattr(now, name))
