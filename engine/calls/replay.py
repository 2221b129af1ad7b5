"""Running a call's recorded events through the core again: the same commands, or the log lies."""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.codec import FORM, decode_call, decode_entry, digest_of
from engine.calls.model.commands import Command
from engine.calls.model.events import Event
from engine.calls.step import step


class Moment(Struct, frozen=True):
    """One step: the event, when it came (wall-clock milliseconds), and what it led to.

    `digest` is of the commands that it led to when it happened, None where it can't be compared.
    """

    now: int
    event: Event
    commands: tuple[Command, ...]
    call: Call
    digest: int | None = None

    @property
    def is_same(self) -> bool:
        """Whether the core decides now what it decided then, as far as that is known."""
        return self.digest in {None, digest_of(self.commands)}


def replay(log: Sequence[bytes]) -> Iterator[Moment]:
    """Run a call's log, whose first line is the call as it was opened; raises DecodeError.

    The story ends where the store has lost a line, which reads as empty bytes.
    """
    if not log or not log[0]:
        return
    call = decode_call(log[0])
    for line in takewhile(bool, log[1:]):
        entry = decode_entry(line)
        call, commands = step(call, entry.event, entry.now)
        digest = entry.digest if entry.form == FORM else None
        yield Moment(entry.now, entry.event, commands, call, digest)


def hole_in(log: Sequence[bytes]) -> int | None:
    """Tell which line is the first that the store has lost."""
    return next((place for place, line in enumerate(log) if not line), None)
