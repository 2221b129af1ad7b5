"""A call that was told step by step, written down as an engine does: its log, record and events."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.json import encode as to_json

from engine.calls.model.call import Call
from engine.calls.model.codec import StoredCall, encode, encode_log_entry
from engine.calls.model.commands import EmitEvent
from engine.calls.model.events import Event
from engine.calls.step import step
from engine.store.change import Change
from wire.events import CallEvent


class RecordedCall(Struct, frozen=True):
    """What an engine leaves behind of a call."""

    call: Call
    log: tuple[bytes, ...]
    emitted: tuple[CallEvent, ...]

    @property
    def record(self) -> StoredCall:
        """The call as it is stored."""
        return StoredCall(self.call, (), len(self.log))

    def change(self) -> Change:
        """Give all of it as one commit."""
        told = tuple(map(to_json, self.emitted))
        live, state = not self.call.is_ended, encode(self.record)
        return Change(self.call.id, "pbx1", state, 0, self.log, told, live)


def record_call(opened: Call, events: Iterable[tuple[int, Event]]) -> RecordedCall:
    """Let events happen to a call, each at its time."""
    call, log, told = opened, [encode(opened)], list[CallEvent]()
    for now, event in events:
        call, commands = step(call, event, now)
        log.append(encode_log_entry(now, event, commands))
        told += [each.event for each in commands if isinstance(each, EmitEvent)]
    return RecordedCall(call, tuple(log), tuple(told))


def replace_line(whole: RecordedCall, place: int, line: bytes) -> Sequence[bytes]:
    """Give a log in which a line is another."""
    return (*whole.log[:place], line, *whole.log[place + 1 :])
