"""Taking slots over: a new token fences the old owner off, then the stored calls are read."""

from collections.abc import Callable

from msgspec import Struct

from engine.calls.codec import Record, decode_record
from engine.store.store import Store
from engine.store.writer import Watch, Writer


class Stored(Struct, frozen=True):
    """A call as the last owner left it."""

    node: str
    record: Record


class Owned(Struct, frozen=True):
    """A slot that is ours: the way to write, and the calls that live in it."""

    writer: Writer
    calls: tuple[Stored, ...]


async def take_over(
    store: Store, slot: int, owner: str, random: Callable[[], float], fenced: Callable[[], None]
) -> Owned:
    """Claim a slot and read its calls; raises StoreDown."""
    token = await store.claim(slot, owner)
    calls = [Stored(node, decode_record(state)) async for _call, node, state in store.live(slot)]
    writer = Writer(store, slot, token, random, watch=Watch(on_fenced=fenced))
    return Owned(writer, tuple(calls))
