"""Several lease managers over one store in memory, with a clock moved by the test."""

import asyncio
from collections.abc import Collection

from engine.runtime.cluster.context import ClusterContext
from engine.runtime.cluster.lease import Lease, LeaseTimings
from engine.runtime.cluster.lease_manager import LeaseManager
from engine.runtime.cluster.membership import Membership
from engine.store.errors import StoreDown
from tests.unit.runtime.harness.manual_store import ManualStore, ManualTime

TIMINGS = LeaseTimings(lease_s=2.0, margin_s=0.25, heartbeat_s=0.5)
SETTLED_ROUNDS = 20  # after so many heartbeats all shares are fair


class RecordingSlotHost:
    """A SlotHost that only records what it is called for."""

    def __init__(self) -> None:
        self.lines: list[str] = []  # method and slot
        self.leases: dict[int, Lease] = {}
        self.live: dict[int, int] = {}  # calls by slot
        self.cannot_take: Collection[int] = ()
        self.formats: dict[int, int] = {}  # needed to read the calls of a slot
        self.numbers: dict[int, int] = {}  # of the last acknowledged batches, by slot

    async def take(self, slot: int, lease: Lease) -> None:
        if slot in self.cannot_take:
            raise StoreDown("set by the test")
        for _ in range(5):  # its calls are read, meanwhile others may fail
            await asyncio.sleep(0)
        self.lines.append(f"take {slot}")
        self.leases[slot] = lease

    async def restore(self, slot: int, lease: Lease) -> None:
        self.lines.append(f"restore {slot}")
        self.leases[slot] = lease

    def last_commit(self, slot: int) -> int:
        return self.numbers.get(slot, 0)

    def required_format(self, slot: int) -> int:
        return self.formats.get(slot, 0)

    def rewrite_lost(self, slot: int) -> None:
        self.numbers.pop(slot, None)
        self.lines.append(f"rewrite {slot}")

    async def drain(self, slot: int) -> None:
        self.lines.append(f"drain {slot}")

    def pause(self, slot: int) -> None:
        self.lines.append(f"pause {slot}")

    def resume(self, slot: int) -> None:
        self.lines.append(f"resume {slot}")

    def drop(self, slot: int) -> None:
        self.lines.append(f"drop {slot}")
        self.leases.pop(slot, None)

    def calls(self, slot: int) -> int:
        return self.live.get(slot, 0)

    def account_loads(self) -> dict[str, tuple[int, int]]:
        """Have dialled no legs."""
        return {}

    def calls_by_node(self) -> dict[str, int]:
        return {"pbx1": sum(self.live.values())}

    def slots_of(self, method: str) -> list[int]:
        """Return the slots of a method's calls, in order."""
        return [int(line.split()[-1]) for line in self.lines if line.startswith(method)]


class Member:
    """One engine: its lease manager and its slot host."""

    def __init__(
        self,
        name: str,
        store: ManualStore,
        time: ManualTime,
        count: int,
        stored_format: int = 1,
    ) -> None:
        self.host = RecordingSlotHost()
        self.membership = Membership(name, stored_format)
        self.unreachable: set[str] = set()
        context = ClusterContext(store, self.membership, self.host, count, TIMINGS, time.monotonic)
        self.leases = LeaseManager(context, f"http://{name}")
        self.reachability = self.leases.reachability

    def probe(self, *nodes: str) -> None:
        """Probe each node once."""
        for node in nodes:
            self.reachability.record(node, node not in self.unreachable)

    @property
    def held(self) -> set[int]:
        """The slots whose leases hold."""
        return {slot for slot, lease in self.host.leases.items() if lease.holds}


class Cluster:
    """Several engines over one store; all probe the same nodes before each heartbeat."""

    def __init__(self, *names: str, slots: int = 8, nodes: tuple[str, ...] = ()) -> None:
        self.time = ManualTime()
        self.nodes = nodes
        self.store = ManualStore(self.time.now_ms)
        self._slots = slots
        self.members: dict[str, Member] = {}
        for name in names:
            self.add_engine(name)

    def __getitem__(self, name: str) -> Member:
        return self.members[name]

    def add_engine(self, name: str, stored_format: int = 1) -> Member:
        """Start an engine."""
        member = Member(name, self.store, self.time, self._slots, stored_format)
        self.members[name] = member
        for node in self.nodes:
            member.reachability.add_node(node)
        return member

    async def run(self, times: int = 1, *names: str) -> None:
        """Run all engines, or those named, in turn, one heartbeat interval apart."""
        for _ in range(times):
            self.time.pass_s(TIMINGS.heartbeat_s)
            for name in names or tuple(self.members):
                self.members[name].probe(*self.nodes)
                await self.members[name].leases.run_once()

    def held(self) -> dict[str, int]:
        """Return how many slots each engine holds."""
        return {name: len(member.held) for name, member in self.members.items()}
