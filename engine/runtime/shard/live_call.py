"""A live call in memory: its value, outbox and timer; data, not a task."""

from collections.abc import Callable, Sequence

from msgspec.json import encode as to_json
from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.calls.model.call_deadline import deadline_ms
from engine.calls.model.call_id_format import call_of
from engine.calls.model.commands import Command, EmitEvent, PbxCommand, Play
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.storage_format import FORMAT, StoredCall, encode
from engine.calls.reporting.dialled_legs import ended_legs_ms
from engine.runtime.base.clock import Clock, Timer
from engine.store.change import Change
from wire.events.call_events import CallEvent

LOST_LOG_LINE = b""  # stands for a log line that the store has lost


class LiveCall:
    """What an engine keeps of a call between two events."""

    __slots__ = (
        "armed_ms", "call", "foreign_channels", "generation", "held_back", "is_busy", "log_lines",
        "outbox", "queue", "repeated", "timer", "uncommitted",
    )  # fmt: skip

    def __init__(self, call: Call, outbox: tuple[Command, ...] = (), log_lines: int = 0) -> None:
        self.call = call
        # Legs whose ids it did not choose: an inbound leg, and legs that other calls have sent.
        ids = (leg.id for leg in call.legs)
        self.foreign_channels = tuple(each for each in ids if call_of(each) is None)
        self.outbox: list[Command] = list(outbox)  # neither acknowledged nor obsolete
        self.uncommitted: tuple[Command, ...] = ()  # of the outbox: to execute after the commit
        self.held_back: list[Play] = []  # committed while nothing is played
        self.queue: list[PbxCommand] = []  # sent to the PBX one after another
        self.is_busy = False  # whether the first of the queue is in flight
        self.repeated: tuple[Command, ...] = ()  # executed again by the last recovery
        self.generation = 0  # grows with each recovery: replies to earlier generations are ignored
        self.log_lines = log_lines  # number of log lines written
        self.timer: Timer | None = None
        self.armed_ms = 0

    def stored_call(self, clock: Clock) -> StoredCall:
        """Return what is stored; `clock` is the one of its times."""
        outbox = tuple(self.outbox)
        return StoredCall(self.call, outbox, self.log_lines, FORMAT, clock.offset_ms)

    def prepare_commit(
        self, commands: list[Command], log: list[bytes], node: str, clock: Clock
    ) -> Change:
        """Add commands to the outbox and return the change that stores them."""
        self.outbox += [each for each in commands if not isinstance(each, EmitEvent)]
        seq, self.log_lines = self.log_lines, self.log_lines + len(log)
        events = [each.event for each in commands if isinstance(each, EmitEvent)]
        encoded = tuple(map(to_json, events))
        return Change(
            call_id=self.call.id,
            node=node,
            state=encode(self.stored_call(clock)),
            seq=seq,
            log=tuple(log),
            events=encoded,
            live=not self.call.is_ended,
            delivery_key=self.call.delivery_key,
            callbacks=_for_target(events, encoded) if self.call.callback_target else (),
            first_seq=events[0].sequence_number if events else 0,
            account=self.call.account,
            used_ms=ended_legs_ms(self.call) if self.call.is_ended else 0,
            unsent=self.call.is_ended and bool(self.unsent_webhooks()),
        )

    def snapshot(self, node: str, clock: Clock) -> Change:
        """Return a change that stores the call again unless its last log line is stored."""
        return Change(
            call_id=self.call.id,
            node=node,
            state=encode(self.stored_call(clock)),
            seq=self.log_lines - 1,
            log=(LOST_LOG_LINE,),
            delivery_key=self.call.delivery_key,
        )

    def acknowledge(self, command: Command) -> None:
        """Remove an executed command from the outbox."""
        if command in self.outbox:
            self.outbox.remove(command)

    def mark_committed(self, commands: Sequence[Command]) -> list[Command]:
        """Return the committed commands that are still to be executed."""
        due = [each for each in commands if _has(self.uncommitted, each)]
        self.uncommitted = tuple(each for each in self.uncommitted if not _has(due, each))
        return due

    def unsent_webhooks(self) -> list[Command]:
        """Return the webhooks that have no result yet."""
        return [each for each in self.outbox if isinstance(each, SendWebhook)]

    def unsent_playbacks(self) -> frozenset[str]:
        """Return the playbacks that were certainly not requested from the PBX."""
        waiting = self.queue[1:] if self.is_busy else self.queue
        commands = (*self.uncommitted, *self.held_back, *waiting)
        return frozenset(each.playback for each in commands if isinstance(each, Play))

    def recover(self, redo: tuple[Command, ...]) -> tuple[Command, ...]:
        """Start a new generation; return those of the commands to redo that are committed.

        An uncommitted command that is not to be redone, as a prompt that is over, is dropped.
        """
        committed = tuple(each for each in redo if not _has(self.uncommitted, each))
        self.uncommitted = tuple(each for each in self.uncommitted if _has(redo, each))
        self.outbox, self.queue, self.is_busy = [*committed, *self.uncommitted], [], False
        self.held_back = []
        self.generation += 1
        self.repeated = committed
        return committed

    def is_repeated(self, command: Command) -> bool:
        """Return whether a recovery executes a command that may have been executed before."""
        return _has(self.repeated, command)

    def retire(self) -> None:
        """End the last generation: ignore all replies and deadlines from now on."""
        self.generation += 1
        self.disarm()

    def arm(self, clock: Clock, on_due: Callable[[], None]) -> None:
        """Set the timer to the call's deadline, or cancel it when there is none."""
        when_ms = deadline_ms(self.call)
        if self.timer is not None:
            if when_ms is not None and self.armed_ms <= when_ms:
                return  # fires early and is set again: cheaper than cancelling
            self.disarm()
        if when_ms is not None:
            self.arm_at(when_ms, clock, on_due)

    def arm_at(self, when_ms: int, clock: Clock, on_due: Callable[[], None]) -> None:
        """Set the timer, which must not be set."""
        self.armed_ms = when_ms
        self.timer = clock.call_at(when_ms, on_due)

    def is_due(self, clock: Clock) -> bool:
        """Whether the call's deadline has passed."""
        when_ms = deadline_ms(self.call)
        return when_ms is not None and clock.now_ms() >= when_ms

    def disarm(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


def _has(commands: Sequence[Command], one: Command) -> bool:
    """Compare by identity: music may be started, stopped and started again."""
    return any(each is one for each in commands)


def _for_target(events: Sequence[CallEvent], encoded: Sequence[bytes]) -> tuple[bytes, ...]:
    """Omit the call record, which is for the platform only; the others are encoded already."""
    return tuple(
        to_json(replace(event, record=None)) if event.record else body
        for event, body in zip(events, encoded, strict=True)
    )
