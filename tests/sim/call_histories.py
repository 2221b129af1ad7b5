"""Histories of a world's calls: each call's log, stored state and published events."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise

import msgspec
from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.commands import Command, EmitEvent
from engine.calls.model.storage_format import StoredCall, decode_call, decode_stored_call
from engine.calls.replay_audit import ReplayStep, replay
from tests.harness.memory_store.store import MemoryStore
from tests.harness.sim.store import done
from tests.sim.live_steps import LiveSteps
from wire.events.call_events import CallEvent
from wire.shard import ShardId

_event = msgspec.json.Decoder(CallEvent).decode


class CallHistory(Struct, frozen=True, dict=True):
    """One call: its initial state, its steps, its stored state, and its published events.

    What many checks read is computed once.
    """

    opened: Call
    steps: tuple[ReplayStep, ...]
    record: StoredCall
    is_live: bool
    events: tuple[CallEvent, ...]
    is_replayed: bool = True  # whether the steps are those of a replay

    @property
    def id(self) -> str:
        return self.opened.id

    @cached_property
    def intervals(self) -> Sequence[tuple[int, int, Call]]:
        """The begin, end and state of every step but the last."""
        return [(m.at_ms, n.at_ms, m.call) for m, n in pairwise(self.steps)]

    @cached_property
    def commands(self) -> Sequence[Command]:
        """All commands of the call."""
        return [command for step in self.steps for command in step.commands]

    @cached_property
    def logged_events(self) -> Sequence[CallEvent]:
        """The events that the log has."""
        return [each.event for each in self.commands if isinstance(each, EmitEvent)]


def call_histories(
    memory: MemoryStore,
    shard: ShardId,
    but: frozenset[str] = frozenset(),
    live_steps: LiveSteps | None = None,
) -> Iterable[CallHistory]:
    """Read every call of a shard, except some; without `live_steps` the logs are replayed."""
    read_steps = live_steps.read if live_steps else replay
    events: dict[str, list[CallEvent]] = {}
    for _, _, body in done(memory.stream.read_after({shard: "0"}, limit=1_000_000)):
        event = _event(body)
        events.setdefault(event.call_id, []).append(event)
    live = set(_live(memory, shard))
    for call_id in [each for each in events if each not in but]:
        log = done(memory.log(shard, call_id))
        state = done(memory.read(shard, call_id))
        assert state is not None, call_id
        record = decode_stored_call(state)
        yield CallHistory(
            decode_call(log[0]) if log[0] else record.call,  # the store can lose it
            tuple(read_steps(log)),
            record,
            call_id in live,
            tuple(events[call_id]),
            live_steps is None,
        )


def _live(memory: MemoryStore, shard: ShardId) -> list[str]:
    async def read() -> list[str]:
        return [call async for call, _, _ in memory.live(shard)]

    return done(read())
