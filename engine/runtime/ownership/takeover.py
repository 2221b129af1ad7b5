"""Taking a slot over: its stored calls are read; the token of its lease keeps the old owner out."""

from collections.abc import Callable

import msgspec
import structlog
from msgspec import Struct, field

from engine.calls.model.codec import Record, decode_record
from engine.observe.metrics import Meter
from engine.runtime.base.ports import CallbackDispatcher, NullDispatcher
from engine.store.flush_scheduler import Pace
from engine.store.store import Store
from engine.store.writer import Watch, Writer

log = structlog.get_logger()


class StoredCall(Struct, frozen=True):
    """A call as the last owner left it."""

    node: str
    record: Record


class Owned(Struct, frozen=True):
    """A slot that is ours: the way to write, and the calls that live in it."""

    writer: Writer
    calls: tuple[StoredCall, ...]


class Claimant(Struct, frozen=True):
    """Who takes slots over: how its writers go together, and who hears that a slot is another's."""

    random: Callable[[], float]
    pace: Pace
    fenced: Callable[[int], None]
    meter: Meter = field(default_factory=Meter)
    post: CallbackDispatcher = NullDispatcher()

    def writer(self, store: Store, slot: int, token: int) -> Writer:
        """Make the way to write into a slot."""
        watch = Watch(
            on_down=lambda reason: log.error("store down", slot=slot, reason=reason),
            on_up=lambda: log.info("store up", slot=slot),
            on_fenced=lambda: self.fenced(slot),
            on_told=lambda change: self.post.take(slot, change),
            on_overflow=lambda count: self.post.overflowed(slot, count),
        )
        return Writer(
            store, slot, token, self.random, watch=watch, pace=self.pace, meter=self.meter
        )


async def take_over(store: Store, slot: int, token: int, claimant: Claimant) -> Owned:
    """Read the calls of a slot that was claimed; raises StoreDown."""
    calls = [
        StoredCall(node, record)
        async for call, node, state in store.live(slot)
        if (record := _decoded(call, state)) is not None
    ]
    return Owned(claimant.writer(store, slot, token), tuple(calls))


def _decoded(call: str, state: bytes) -> Record | None:
    try:
        return decode_record(state)
    except msgspec.DecodeError:
        # One unreadable call must not keep the others from going on; the reaper ends its legs.
        log.exception("a stored call can't be read", call_id=call)
        return None
