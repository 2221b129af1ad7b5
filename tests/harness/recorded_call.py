"""Runs a call through the core and keeps what an engine stores: log, record and events."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.json import encode as to_json

from engine.calls.model.call import Call
from engine.calls.model.commands import EmitEvent
from engine.calls.model.events import Event
from engine.calls.model.storage_format import StoredCall, encode, encode_log_entry
from engine.calls.step import step
from engine.store.change import Change
from wire.events.call_events import CallEvent


class RecordedCall(Struct, frozen=True):
    """The stored results of one call."""

    call: Call
    log: tuple[bytes, ...]
    emitted: tuple[CallEvent, ...]

    @property
    def record(self) -> StoredCall:
        """The stored form of the call."""
        return StoredCall(self.call, (), len(self.log))

    def change(self) -> Change:
        """Return all of it as one commit."""
        events = tuple(map(to_json, self.emitted))
        live, state = not self.call.is_ended, encode(self.record)
        return Change(self.call.id, "pbx1", state, 0, self.log, events, live)


def record_call(opened: Call, events: Iterable[tuple[int, Event]]) -> RecordedCall:
    """Apply events to a call, each at its time in milliseconds."""
    call, log, emitted = opened, [encode(opened)], list[CallEvent]()
    for now, event in events:
        call, commands = step(call, event, now)
        log.append(encode_log_entry(now, event, commands))
        emitted += [each.event for each in commands if isinstance(each, EmitEvent)]
    return RecordedCall(call, tuple(log), tuple(emitted))


def replace_line(recorded: RecordedCall, index: int, line: bytes) -> Sequence[bytes]:
    """Return the log with one line replaced."""
    return (*recorded.log[:index], line, *recorded.log[index + 1 :])
