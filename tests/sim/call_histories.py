"""What a world left behind, put in order for the checks: each call's log, record and events."""

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.codec import StoredCall, decode_call, decode_stored_call
from engine.calls.model.commands import Command, EmitEvent
from engine.calls.replay import ReplayStep, replay
from engine.store.memory.store import MemoryStore
from tests.harness.sim.store import done
from wire.events import CallEvent

_event = msgspec.json.Decoder(CallEvent).decode


class CallHistory(Struct, frozen=True):
    """One call: as it was opened, each of its moments, as it was stored, and what was events."""

    opened: Call
    steps: tuple[ReplayStep, ...]
    record: StoredCall
    is_live: bool
    events: tuple[CallEvent, ...]

    @property
    def id(self) -> str:
        """The call's id."""
        return self.opened.id

    def intervals(self) -> list[tuple[int, int, Call]]:
        """List from when to when it was in each of its states, but for the last."""
        following = self.steps[1:]
        return [(m.at_ms, n.at_ms, m.call) for m, n in zip(self.steps, following, strict=False)]

    def commands(self) -> list[Command]:
        """List all that it ever wanted."""
        return [command for step in self.steps for command in step.commands]

    def logged_events(self) -> list[CallEvent]:
        """List what the log says should have been events."""
        return [
            each.event for m in self.steps for each in m.commands if isinstance(each, EmitEvent)
        ]


def call_histories(
    memory: MemoryStore, slot: int, but: frozenset[str] = frozenset()
) -> Iterable[CallHistory]:
    """Tell every call of a slot that was ever stored, but for some."""
    events: dict[str, list[CallEvent]] = {}
    for _, _, body in done(memory.stream.read_after({slot: "0"}, limit=1_000_000)):
        event = _event(body)
        events.setdefault(event.call_id, []).append(event)
    live = set(_live(memory, slot))
    for call_id in [each for each in events if each not in but]:
        log = done(memory.log(slot, call_id))
        state = done(memory.read(slot, call_id))
        assert state is not None, call_id
        record = decode_stored_call(state)
        yield CallHistory(
            decode_call(log[0]) if log[0] else record.call,  # the store may have lost it
            tuple(replay(log)),
            record,
            call_id in live,
            tuple(events[call_id]),
        )


def _live(memory: MemoryStore, slot: int) -> list[str]:
    async def read() -> list[str]:
        return [call async for call, _, _ in memory.live(slot)]

    return done(read())
