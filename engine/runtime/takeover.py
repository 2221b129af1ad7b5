"""Taking slots over: a new token fences the old owner off, then the stored calls are read."""

from collections.abc import Callable

from msgspec import Struct

from engine.calls.codec import Record, decode_record
from engine.store.store import Store
from engine.store.writer import Pace, Watch, Writer


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
    calls = [Stored(node, decode_record(state)) async for _call, node, state in store.live(slot)]
    watch = Watch(on_fenced=claimant.fenced)
    writer = Writer(store, slot, token, claimant.random, watch=watch, pace=claimant.pace)
    return Owned(writer, tuple(calls))
