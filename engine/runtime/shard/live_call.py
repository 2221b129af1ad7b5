"""A live call in memory: its value, outbox and timer; data, not a task."""

from collections.abc import Callable, Iterable, Sequence

from msgspec.json import encode as to_json
from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.calls.model.commands import Command, EmitEvent, Play
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.storage_format import FORMAT, StoredCall, encode
from engine.calls.reporting.dialled_legs import ended_legs_ms
from engine.calls.states import deadline_ms
from engine.runtime.base.clock import Clock, Timer
from engine.runtime.shard.outbox import CommandState, Outbox, PendingCommand
from engine.store.change import Change
from wire.call_id_format import call_of
from wire.events.call_events import CallEvent

LOST_LOG_LINE = b""  # stands for a log line that the store has lost


class LiveCall:
    """What an engine keeps of a call between two events."""

    __slots__ = (
        "armed_ms", "call", "foreign_channels", "generation", "is_busy", "log_bytes", "log_lines",
        "outbox", "timer",
    )  # fmt: skip

    def __init__(self, call: Call, outbox: Iterable[Command] = (), log_lines: int = 0) -> None:
        self.call = call
        # Legs whose ids it did not choose: an inbound leg, and legs that other calls have sent.
        ids = (leg.id for leg in call.legs)
        self.foreign_channels = tuple(each for each in ids if call_of(each) is None)
        self.outbox = Outbox(outbox)
        self.is_busy = False  # whether a reply is awaited before the next queued command is sent
        self.generation = 0  # grows with each recovery: replies to earlier generations are ignored
        self.log_lines = log_lines  # number of log lines written
        self.log_bytes = 0  # of those that this engine has written
        self.timer: Timer | None = None
        self.armed_ms = 0

    def stored_call(self, clock: Clock) -> StoredCall:
        """Return what is stored; `clock` is the one of its times."""
        return StoredCall(self.call, self.outbox.commands, self.log_lines, FORMAT, clock.offset_ms)

    def prepare_commit(
        self, commands: list[Command], log: list[bytes], node: str, clock: Clock
    ) -> tuple[list[PendingCommand], Change]:
        """Add commands to the outbox; return them, and the change that stores them."""
        added = self.outbox.add(commands)
        seq, self.log_lines = self.log_lines, self.log_lines + len(log)
        self.log_bytes += sum(map(len, log))
        events = [each.event for each in commands if isinstance(each, EmitEvent)]
        encoded = tuple(map(to_json, events))
        return added, Change(
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

    def unsent_webhooks(self) -> list[PendingCommand]:
        """Return the webhooks that have no result yet."""
        return [each for each in self.outbox if isinstance(each.command, SendWebhook)]

    def unsent_playbacks(self) -> frozenset[str]:
        """Return the playbacks that were certainly not requested from the PBX."""
        return frozenset(
            each.command.playback
            for each in self.outbox
            if isinstance(each.command, Play) and each.state is not CommandState.SENT
        )

    def recover(self, redo: Sequence[Command]) -> list[PendingCommand]:
        """Start a new generation; return those of the commands to redo that are committed."""
        self.is_busy = False
        self.generation += 1
        return self.outbox.recover(redo)

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


def _for_target(events: Sequence[CallEvent], encoded: Sequence[bytes]) -> tuple[bytes, ...]:
    """Omit the call record, which is for the platform only; the others are encoded already."""
    return tuple(
        to_json(replace(event, record=None)) if event.record else body
        for event, body in zip(events, encoded, strict=True)
    )
