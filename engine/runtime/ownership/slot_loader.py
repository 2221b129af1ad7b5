"""Takes over a claimed slot: reads its stored calls; the lease's token fences the old owner."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import msgspec
import structlog
from msgspec import Struct, field
from msgspec.structs import replace

from engine.callbacks.dispatcher import CallbackDispatcher
from engine.calls.model.storage_format import (
    LaterCall,
    StoredCall,
    decode_later_call,
    decode_stored_call,
)
from engine.observe.metrics import Metrics
from engine.store.errors import StoreDown
from engine.store.store import Store
from engine.store.writer import Writer, WriterHooks

log = structlog.get_logger()
LAST_SEEN_TIMEOUT_S = 0.1


class ClaimedCall(Struct, frozen=True):
    """A call as its last owner left it."""

    node: str
    stored: StoredCall


class ClaimedSlot(Struct, frozen=True):
    """The writer of a claimed slot, its live calls, and those that only a later version reads.

    `seen_ms`: when an owner last saw the calls.
    """

    writer: Writer
    calls: tuple[ClaimedCall, ...]
    later: tuple[tuple[str, LaterCall], ...] = ()  # with their nodes
    seen_ms: int = 0


class WriterFactory(Struct, frozen=True):
    """Builds the writers of claimed slots; `on_fenced` gets a slot that another engine has."""

    random: Callable[[], float]
    on_fenced: Callable[[int], None]
    metrics: Metrics = field(default_factory=Metrics)
    callbacks: CallbackDispatcher | None = None

    def writer(self, store: Store, slot: int, token: int) -> Writer:
        hooks = WriterHooks(
            on_down=lambda reason: log.error("store down", slot=slot, reason=reason),
            on_up=lambda: log.info("store up", slot=slot),
            on_fenced=lambda: self.on_fenced(slot),
        )
        if self.callbacks is not None:
            hooks = replace(
                hooks,
                on_callbacks=partial(self.callbacks.enqueue, slot),
                on_overflow=partial(self.callbacks.record_overflow, slot),
            )
        return Writer(
            store,
            slot,
            token,
            self.random,
            hooks=hooks,
            metrics=self.metrics,
        )


async def load_slot(store: Store, slot: int, token: int, writers: WriterFactory) -> ClaimedSlot:
    """Read the calls of a claimed slot; raises StoreDown."""
    calls: list[ClaimedCall] = []
    later: list[tuple[str, LaterCall]] = []
    async for call, node, body in store.live(slot):
        match _decode(call, body):
            case StoredCall() as stored:
                calls.append(ClaimedCall(node, stored))
            case LaterCall() as unreadable:
                later.append((node, unreadable))
            case None:
                pass
    seen_ms = 0
    if calls:
        # It only dates lost calls, so a takeover must not fail or wait for it.
        with suppress(StoreDown, TimeoutError):
            async with asyncio.timeout(LAST_SEEN_TIMEOUT_S):
                seen_ms = await store.last_seen_ms(slot)
    return ClaimedSlot(writers.writer(store, slot, token), tuple(calls), tuple(later), seen_ms)


def _decode(call: str, body: bytes) -> StoredCall | LaterCall | None:
    try:
        return decode_later_call(call, body) or decode_stored_call(body)
    except msgspec.DecodeError:
        # One unreadable call must not stop the others; the reaper ends its legs.
        log.exception("invalid stored call", call_id=call)
        return None
