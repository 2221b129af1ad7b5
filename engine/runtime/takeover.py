"""Taking slots over: a new token fences the old owner off, then the stored calls are read."""

from collections.abc import Callable

import msgspec
import structlog
from msgspec import Struct

from engine.calls.codec import Record, decode_record
from engine.store.store import Store
from engine.store.writer import Pace, Watch, Writer

log = structlog.get_logger()


class Stored(Struct, frozen=True):
    """A call as the last owner left it."""

    node: str
    record: Record


class Owned(Struct, frozen=True):
    """A slot that is ours: the way to write, and the calls that live in it."""

    writer: Writer
    calls: tuple[Stored, ...]


class Claimant(Struct, frozen=True):
    """Who takes slots over, and how its writers go together."""

    owner: str
    random: Callable[[], float]
    pace: Pace
    fenced: Callable[[], None]


async def take_over(store: Store, slot: int, claimant: Claimant) -> Owned:
    """Claim a slot and read its calls; raises StoreDown."""
    token = await store.claim(slot, claimant.owner)
    calls = [
        Stored(node, record)
        async for call, node, state in store.live(slot)
        if (record := _decoded(call, state)) is not None
    ]
    watch = Watch(
        on_down=lambda reason: log.error("store down", slot=slot, reason=reason),
        on_up=lambda: log.info("store up", slot=slot),
        on_fenced=claimant.fenced,
    )
    writer = Writer(store, slot, token, claimant.random, watch=watch, pace=claimant.pace)
    return Owned(writer, tuple(calls))


def _decoded(call: str, state: bytes) -> Record | None:
    try:
        return decode_record(state)
    except msgspec.DecodeError:
        # One unreadable call must not keep the others from going on; the reaper ends its legs.
        log.exception("a stored call can't be read", call_id=call)
        return None
