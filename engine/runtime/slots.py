"""The desks of this engine's slots, on every node: opened and closed as leases come and go."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from time import perf_counter
from typing import Any, Protocol

import structlog

from engine.observe.meter import Meter
from engine.runtime.desk import Desk
from engine.runtime.lease import Lease
from engine.runtime.node import Node
from engine.runtime.switch import Switch
from engine.runtime.takeover import Claimant, Stored, take_over
from engine.runtime.tasks import Tasks
from engine.store.store import Store
from engine.store.writer import Pace, Writer

log = structlog.get_logger()
SETTLE_S = 1.0
PRESENCE_SLOT = 0  # who has it hears who registers: one engine does, and every slot has one


class Builder(Protocol):
    """How a slot's desk at a node is made, and how its events are heard."""

    def desk(self, node: Node, slot: int, lease: Lease, writer: Writer) -> Desk:
        """Make a desk."""

    async def watching(self, node: Node, slot: int) -> None:
        """Know which agents are registered at a node, until cancelled, as who has a slot."""

    def hearing(
        self, node: Node, slot: int, replaced: Callable[[int], None]
    ) -> Coroutine[Any, Any, None]:
        """Listen to a slot's app until cancelled, or until another engine does."""


class OwnSlots:
    """Implements `holding.Slots`."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        store: Store,
        switch: Switch,
        builder: Builder,
        tasks: Tasks,
        random: Callable[[], float],
        *,
        meter: Meter | None = None,
    ) -> None:
        self.on_doubt: Callable[[int], None] = lambda _slot: None  # a slot may be another's
        self._store = store
        self._switch = switch
        self._builder = builder
        self._tasks = tasks
        self._meter = meter or Meter()
        self._claimant = Claimant(random, Pace(), self._doubted, self._meter)
        self._writers: dict[int, Writer] = {}

    async def take(self, slot: int, lease: Lease) -> None:
        """Go on with a slot's calls; raises StoreDown."""
        began_s = perf_counter()
        owned = await take_over(self._store, slot, lease.token, self._claimant)
        self._meter.store.takeovers.of(slot).observe(perf_counter() - began_s)
        for stored in owned.calls:
            self._meter.calls.taken_over.of(stored.node)[str(slot)] += 1
        log.info("slot taken", slot=slot, calls=len(owned.calls))
        self._open(slot, lease, owned.writer, owned.calls)

    async def store_again(self, slot: int, lease: Lease) -> None:
        """Store a slot's calls, which the store has lost, from memory, and go on."""
        kept = [Stored(desk.place.node, actor.record) for desk in self._desks(slot)
                for actor in desk.actors.values()]  # fmt: skip
        self.drop(slot)
        writer = self._claimant.writer(self._store, slot, lease.token)
        self._open(slot, lease, writer, kept)
        for desk in self._desks(slot):
            desk.store_again()

    async def settled(self, slot: int) -> None:
        """Take no more in, and wait, not for long, until what was decided is stored."""
        for desk in self._desks(slot):
            desk.hold()
        try:
            async with asyncio.timeout(SETTLE_S):
                await self._writers[slot].drained()
        except TimeoutError:
            log.warning("left with changes unstored", slot=slot)

    def pause(self, slot: int) -> None:
        """Stand still; nobody listens, so that the PBX offers new calls to other slots."""
        self._tasks.cancel(_ears(slot))
        for node in self._switch.nodes.values():
            node.rest(slot)

    def go_on(self, slot: int) -> None:
        """Listen again; what was missed is recovered."""
        for node in self._switch.nodes.values():
            self._tasks.start(_ears(slot), self._builder.hearing(node, slot, self._doubted))
            if slot == PRESENCE_SLOT:
                self._tasks.start(_ears(slot), self._builder.watching(node, slot))

    def drop(self, slot: int) -> None:
        """Leave a slot's calls to its next owner."""
        self._tasks.cancel(_ears(slot))
        self._tasks.cancel(_pen(slot))
        self._writers.pop(slot, None)
        for node in self._switch.nodes.values():
            node.remove(slot)

    def calls(self, slot: int) -> int:
        """Count a slot's live calls."""
        return sum(len(desk.actors) for desk in self._desks(slot))

    def calls_by_node(self) -> dict[str, int]:
        """Count the live calls of each node."""
        return {node.name: node.live for node in self._switch.nodes.values()}

    def _open(self, slot: int, lease: Lease, writer: Writer, calls: Iterable[Stored]) -> None:
        self._writers[slot] = writer
        self._tasks.start(_pen(slot), writer.run())
        for node in self._switch.nodes.values():
            node.add(slot, self._builder.desk(node, slot, lease, writer))
        for stored in calls:
            self._switch.adopt(stored, slot)
        self.go_on(slot)

    def _doubted(self, slot: int) -> None:
        self.on_doubt(slot)

    def _desks(self, slot: int) -> list[Desk]:
        nodes = self._switch.nodes.values()
        return [desk for node in nodes if (desk := node.desks.get(slot))]


def _ears(slot: int) -> str:
    return f"ears {slot}"


def _pen(slot: int) -> str:
    return f"pen {slot}"
