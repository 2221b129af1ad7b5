"""A slot's event stream in the tests of it: who tells, and who reads."""

from collections.abc import Iterable

from engine.store.change import Change
from engine.store.store import Store
from engine.store.stream import START, Batch, Consumer
from tests.contract.store.stores import claimed

CDR, OTHER = Consumer("cdr", "api1"), Consumer("cdr", "api2")
NOW = Consumer("cdr", "api2", idle_ms=0)


class Teller:
    """Tells events in a slot, a hundred in one commit at most."""

    def __init__(self, store: Store, slot: int, token: int) -> None:
        self._store, self._slot, self._token = store, slot, token
        self._calls = 0

    async def __call__(self, *events: str) -> None:
        """Tell events."""
        for first in range(0, len(events), 100):
            told = tuple(each.encode() for each in events[first : first + 100])
            self._calls += 1
            change = Change(f"c{self._calls}", "pbx1", b"", 0, (b"line",), told)
            await self._store.commit(self._slot, self._token, [change])


async def teller(store: Store, slot: int = 3) -> Teller:
    """Own a slot."""
    return Teller(store, slot, await claimed(store, slot))


def numbers(begin: int, end: int) -> list[str]:
    """Name events by numbers."""
    return [str(number) for number in range(begin, end)]


def told(batch: Batch) -> list[str]:
    """Give what a batch holds."""
    return [each.event.decode() for each in batch.entries]


async def done(store: Store, batch: Batch, group: str = "cdr") -> int:
    """Acknowledge all of a batch."""
    ids: dict[int, list[str]] = {}
    for each in batch.entries:
        ids.setdefault(each.slot, []).append(each.id)
    return await store.stream.acknowledge(group, ids, {gap.slot: gap.end for gap in batch.gaps})


async def all_told(store: Store, slot: int = 3) -> list[str]:
    """Read a whole stream."""
    found = await store.stream.read_after({slot: START}, limit=100_000)
    return [event.decode() for _, _, event in found]


def bodies(found: Iterable[tuple[str, bytes]]) -> list[bytes]:
    """Give what was told, without its ids."""
    return [body for _, body in found]
