"""Taking a slot over: its stored calls are read; the token of its lease keeps the old owner out."""

from collections.abc import Callable

import msgspec
import structlog
from msgspec import Struct, field

from engine.calls.model.codec import StoredCall, decode_stored_call
from engine.observe.metrics import Metrics
from engine.runtime.base.ports import CallbackDispatcher, NullDispatcher
from engine.store.flush_scheduler import FlushScheduler
from engine.store.store import Store
from engine.store.writer import Writer, WriterHooks

log = structlog.get_logger()


class ClaimedCall(Struct, frozen=True):
    """A call as the last owner left it."""

    node: str
    record: StoredCall


class ClaimedSlot(Struct, frozen=True):
    """A slot that is ours: the way to write, and the calls that live in it."""

    writer: Writer
    calls: tuple[ClaimedCall, ...]


class WriterFactory(Struct, frozen=True):
    """Who takes slots over: how its writers go together, and who hears that a slot is another's."""

    random: Callable[[], float]
    pace: FlushScheduler
    on_fenced: Callable[[int], None]
    meter: Metrics = field(default_factory=Metrics)
    callbacks: CallbackDispatcher = NullDispatcher()

    def writer(self, store: Store, slot: int, token: int) -> Writer:
        """Make the way to write into a slot."""
        watch = WriterHooks(
            on_down=lambda reason: log.error("store down", slot=slot, reason=reason),
            on_up=lambda: log.info("store up", slot=slot),
            on_fenced=lambda: self.on_fenced(slot),
            on_callbacks=lambda change: self.callbacks.enqueue(slot, change),
            on_overflow=lambda count: self.callbacks.record_overflow(slot, count),
        )
        return Writer(
            store, slot, token, self.random, watch=watch, pace=self.pace, meter=self.meter
        )


async def take_over(store: Store, slot: int, token: int, claimant: WriterFactory) -> ClaimedSlot:
    """Read the calls of a slot that was claimed; raises StoreDown."""
    calls = [
        ClaimedCall(node, record)
        async for call, node, state in store.live(slot)
        if (record := _decoded(call, state)) is not None
    ]
    return ClaimedSlot(claimant.writer(store, slot, token), tuple(calls))


def _decoded(call: str, state: bytes) -> StoredCall | None:
    try:
        return decode_stored_call(state)
    except msgspec.DecodeError:
        # One unreadable call must not keep the others from going on; the reaper ends its legs.
        log.exception("a stored call can't be read", call_id=call)
        return None
