"""A live call in memory: its value, its outbox and one timer; data, not a task (design fact 16)."""

from collections.abc import Callable, Sequence

from msgspec.json import encode as to_json
from msgspec.structs import replace

from engine.calls.model.call import Call, deadline_ms
from engine.calls.model.codec import StoredCall, encode
from engine.calls.model.commands import Command, EmitEvent, PbxCommand
from engine.calls.model.ids import call_of
from engine.runtime.base.clock import Clock, Timer
from engine.store.change import Change
from wire.events import CallEvent

LOST_LOG_LINE = b""  # as a line of the log reads that the store has lost


class Actor:
    """What an engine holds of a call between two events."""

    __slots__ = (
        "armed_ms", "call", "generation", "inbound_channel", "is_busy", "log_lines", "outbox",
        "queue", "timer", "uncommitted",
    )  # fmt: skip

    def __init__(self, call: Call, outbox: tuple[Command, ...] = (), logged: int = 0) -> None:
        self.call = call
        # The leg that came in, if there is one: the call may go on without it.
        self.inbound_channel = next((leg.id for leg in call.legs if call_of(leg.id) is None), None)
        self.outbox: list[Command] = list(outbox)  # wanted, and not yet done
        self.uncommitted: list[Command] = []  # of them: to be done once their step is stored
        self.queue: list[PbxCommand] = []  # to be sent to the PBX, one after another
        self.is_busy = False  # whether the first of them is on its way
        self.generation = 0  # grows with each recovery: replies to an earlier life count no more
        self.log_lines = logged  # lines of the log that were written
        self.timer: Timer | None = None
        self.armed_ms = 0

    @property
    def stored_call(self) -> StoredCall:
        """The call as it is stored."""
        return StoredCall(self.call, tuple(self.outbox), self.log_lines)

    def prepare_commit(self, commands: list[Command], log: list[bytes], node: str) -> Change:
        """Take commands into the outbox, and give the commit that holds them."""
        self.outbox += [each for each in commands if not isinstance(each, EmitEvent)]
        seq, self.log_lines = self.log_lines, self.log_lines + len(log)
        told = [each.event for each in commands if isinstance(each, EmitEvent)]
        return Change(
            call_id=self.call.id,
            node=node,
            state=encode(self.stored_call),
            seq=seq,
            log=tuple(log),
            events=tuple(map(to_json, told)),
            live=not self.call.is_ended,
            delivery_key=self.call.delivery_key,
            callbacks=tuple(map(_as_delivered, told)) if self.call.callback_target else (),
            first_seq=told[0].sequence_number if told else 0,
        )

    def snapshot(self, node: str) -> Change:
        """Give the commit that stores the call again, if the last line of its log is not stored."""
        return Change(
            call_id=self.call.id,
            node=node,
            state=encode(self.stored_call),
            seq=self.log_lines - 1,
            log=(LOST_LOG_LINE,),
            delivery_key=self.call.delivery_key,
        )

    def acknowledge(self, command: Command) -> None:
        """Take a command off the outbox: it is done."""
        if command in self.outbox:
            self.outbox.remove(command)

    def mark_committed(self, commands: Sequence[Command]) -> list[Command]:
        """Wait no more for commands; gives those that are still to be done."""
        due = [each for each in commands if _has(self.uncommitted, each)]
        self.uncommitted = [each for each in self.uncommitted if not _has(due, each)]
        return due

    def recover(self, redo: tuple[Command, ...]) -> tuple[Command, ...]:
        """Begin another life; of what must be done again, give what is not waiting to be stored.

        What waits and need not be done any more, as a prompt whose time is over, never is.
        """
        stored = tuple(each for each in redo if not _has(self.uncommitted, each))
        self.uncommitted = [each for each in self.uncommitted if _has(redo, each)]
        self.outbox, self.queue, self.is_busy = [*stored, *self.uncommitted], [], False
        self.generation += 1
        return stored

    def retire(self) -> None:
        """Begin no other life: nothing is due any more, and no answer leads to anything."""
        self.generation += 1
        self.disarm()

    def arm(self, clock: Clock, due: Callable[[], None]) -> None:
        """Set the timer to the call's deadline, or off when it has none."""
        when_ms = deadline_ms(self.call)
        if self.timer is not None:
            if when_ms is not None and self.armed_ms <= when_ms:
                return  # it fires early, sees that, and is set again: cheaper than cancelling
            self.disarm()
        if when_ms is not None:
            self.armed_ms = when_ms
            self.timer = clock.call_at(when_ms, due)

    def disarm(self) -> None:
        """Call the timer off."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


def _has(commands: Sequence[Command], one: Command) -> bool:
    """Tell whether a command is among others: itself, as music may be wanted, ended, and wanted."""
    return any(each is one for each in commands)


def _as_delivered(event: CallEvent) -> bytes:
    """Leave out what is the platform's own: its record of the call."""
    return to_json(replace(event, record=None) if event.record else event)
