"""Engines that share slots, by hand: one clock, one store, slots that write down."""

import asyncio
from collections.abc import Collection

from engine.runtime.cluster.context import ClusterContext
from engine.runtime.cluster.lease import Lease
from engine.runtime.cluster.lease_manager import LeaseManager
from engine.runtime.cluster.membership import Membership
from engine.runtime.cluster.timings import LeaseTimings
from engine.store.errors import StoreDown
from tests.unit.runtime.harness.manual_store import ManualStore, ManualTime

RHYTHM = LeaseTimings(lease_s=2.0, margin_s=0.25, heartbeat_s=0.5)
SETTLED = 20  # after so many beats all shares are what they are to be


class Diary:
    """Slots that only write down what is done with them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.leases: dict[int, Lease] = {}
        self.live: dict[int, int] = {}  # calls by slot
        self.cannot_take: Collection[int] = ()
        self.numbers: dict[int, int] = {}  # of batches that were answered, by slot

    async def take(self, slot: int, lease: Lease) -> None:
        """Note it."""
        if slot in self.cannot_take:
            raise StoreDown("by hand")
        for _ in range(5):  # its calls are read, meanwhile others may fail
            await asyncio.sleep(0)
        self.lines.append(f"take {slot}")
        self.leases[slot] = lease

    async def restore(self, slot: int, lease: Lease) -> None:
        """Note it."""
        self.lines.append(f"store {slot}")
        self.leases[slot] = lease

    def last_commit(self, slot: int) -> int:
        """Give what the test says."""
        return self.numbers.get(slot, 0)

    def rewrite_lost(self, slot: int) -> None:
        """Note it."""
        self.numbers.pop(slot, None)
        self.lines.append(f"write again {slot}")

    async def drain(self, slot: int) -> None:
        """Note it."""
        self.lines.append(f"settle {slot}")

    def pause(self, slot: int) -> None:
        """Note it."""
        self.lines.append(f"pause {slot}")

    def resume(self, slot: int) -> None:
        """Note it."""
        self.lines.append(f"go on {slot}")

    def drop(self, slot: int) -> None:
        """Note it."""
        self.lines.append(f"drop {slot}")
        self.leases.pop(slot, None)

    def calls(self, slot: int) -> int:
        """Count."""
        return self.live.get(slot, 0)

    def calls_by_node(self) -> dict[str, int]:
        """Count all."""
        return {"pbx1": sum(self.live.values())}

    def did(self, what: str) -> list[int]:
        """List the slots that something was done with."""
        return [int(line.split()[-1]) for line in self.lines if line.startswith(what)]


class Member:
    """One engine's keeper, with its diary."""

    def __init__(self, name: str, store: ManualStore, hand: ManualTime, count: int) -> None:
        self.diary = Diary()
        self.peers = Membership(name)
        self.misses: set[str] = set()
        context = ClusterContext(store, self.peers, self.diary, count, RHYTHM, hand.monotonic)
        self.keeper = LeaseManager(context, f"http://{name}")
        self.reach = self.keeper.reachability

    def asks(self, *nodes: str) -> None:
        """Ask nodes once whether they are there."""
        for node in nodes:
            self.reach.record(node, node not in self.misses)

    @property
    def held(self) -> set[int]:
        """The slots that are surely this engine's."""
        return {slot for slot, lease in self.diary.leases.items() if lease.holds}


class Club:
    """Some engines over one store; all know the same nodes, and ask them before each beat."""

    def __init__(self, *names: str, slots: int = 8, nodes: tuple[str, ...] = ()) -> None:
        self.hand = ManualTime()
        self.nodes = nodes
        self.store = ManualStore(self.hand.now_ms)
        self._slots = slots
        self.members: dict[str, Member] = {}
        for name in names:
            self.join(name)

    def __getitem__(self, name: str) -> Member:
        return self.members[name]

    def join(self, name: str) -> Member:
        """Let an engine come."""
        member = self.members[name] = Member(name, self.store, self.hand, self._slots)
        for node in self.nodes:
            member.reach.add_node(node)
        return member

    async def beats(self, times: int = 1, *names: str) -> None:
        """Let all, or some, beat in turn, half a second apart."""
        for _ in range(times):
            self.hand.pass_s(RHYTHM.heartbeat_s)
            for name in names or tuple(self.members):
                self.members[name].asks(*self.nodes)
                await self.members[name].keeper.run_once()

    def held(self) -> dict[str, int]:
        """Count each engine's slots."""
        return {name: len(member.held) for name, member in self.members.items()}
