"""Takes over a claimed shard: reads its stored calls; the lease's token fences the old owner."""

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
from wire.shard import ShardId

log = structlog.get_logger()
LAST_SEEN_TIMEOUT_S = 0.1


class ClaimedShard(Struct, frozen=True):
    """The writer of a claimed shard, its live calls, and those that only a later version reads.

    `unsent` are ended calls whose last webhooks may not have been sent; `seen_ms`: when an owner
    last saw the calls.
    """

    writer: Writer
    calls: tuple[StoredCall, ...]
    unsent: tuple[StoredCall, ...]
    later: tuple[LaterCall, ...] = ()
    seen_ms: int = 0


class WriterFactory(Struct, frozen=True):
    """Builds the writers of claimed shards; `on_fenced` gets a shard that another engine has."""

    random: Callable[[], float]
    on_fenced: Callable[[ShardId], None]
    metrics: Metrics = field(default_factory=Metrics)
    callbacks: CallbackDispatcher | None = None

    def writer(self, store: Store, shard: ShardId, token: int) -> Writer:
        hooks = WriterHooks(
            on_down=lambda reason: log.error("store down", shard=str(shard), reason=reason),
            on_up=lambda: log.info("store up", shard=str(shard)),
            on_fenced=lambda: self.on_fenced(shard),
        )
        if self.callbacks is not None:
            hooks = replace(
                hooks,
                on_callbacks=partial(self.callbacks.enqueue, shard),
                on_overflow=partial(self.callbacks.record_overflow, shard),
            )
        return Writer(
            store,
            shard,
            token,
            self.random,
            hooks=hooks,
            metrics=self.metrics,
        )


async def load_shard(
    store: Store, shard: ShardId, token: int, writers: WriterFactory
) -> ClaimedShard:
    """Read the calls of a claimed shard; raises StoreDown."""
    calls: list[StoredCall] = []
    later: list[LaterCall] = []
    async for call, _node, body in store.live(shard):
        match _decode(call, body):
            case StoredCall() as stored:
                calls.append(stored)
            case LaterCall() as unreadable:
                later.append(unreadable)
            case None:
                pass
    writer = writers.writer(store, shard, token)
    unsent: list[StoredCall] = []
    for call, state in (await store.unsent(shard)).items():
        if state is None:
            writer.mark_sent(call)  # it is not kept any more
        elif isinstance(ended := _decode(call, state), StoredCall):
            unsent.append(ended)
    seen_ms = 0
    if calls:
        # It only dates lost calls, so a takeover must not fail or wait for it.
        with suppress(StoreDown, TimeoutError):
            async with asyncio.timeout(LAST_SEEN_TIMEOUT_S):
                seen_ms = await store.last_seen_ms(shard)
    return ClaimedShard(writer, tuple(calls), tuple(unsent), tuple(later), seen_ms)


def _decode(call: str, body: bytes) -> StoredCall | LaterCall | None:
    try:
        return decode_later_call(call, body) or decode_stored_call(body)
    except msgspec.DecodeError:
        # One unreadable call must not stop the others; the reaper ends its legs.
        log.exception("invalid stored call", call_id=call)
        return None
