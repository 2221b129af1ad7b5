"""Several lease managers over one store in memory, with a clock moved by the test."""

import asyncio
from collections.abc import Collection

from engine.runtime.base.node_report import AccountUse, NodeReport
from engine.runtime.cluster.context import ClusterContext
from engine.runtime.cluster.lease import Lease, LeaseTimings
from engine.runtime.cluster.lease_manager import LeaseManager
from engine.runtime.cluster.membership import Membership
from engine.runtime.cluster.shard_map import ShardMap
from engine.store.errors import StoreDown
from tests.harness.runtime.manual_store import ManualStore, ManualTime
from wire.shard import ShardId, parse_shard

TIMINGS = LeaseTimings(lease_s=2.0, margin_s=0.25, heartbeat_s=0.5)
SETTLED_ROUNDS = 20  # after so many heartbeats all shares are fair


def shards(*slots: int) -> set[ShardId]:
    """Return shards of the first node."""
    return {ShardId("pbx1", slot) for slot in slots}


class RecordingShardOwner:
    """A ShardOwner that only records what it is called for."""

    def __init__(self) -> None:
        self.lines: list[str] = []  # method and shard
        self.leases: dict[ShardId, Lease] = {}
        self.live: dict[ShardId, int] = {}  # calls
        self.cannot_take: Collection[ShardId] = ()
        self.formats: dict[ShardId, int] = {}  # needed to read the calls of a shard
        self.numbers: dict[ShardId, int] = {}  # of the last acknowledged batches

    async def take(self, shard: ShardId, lease: Lease) -> None:
        if shard in self.cannot_take:
            raise StoreDown("set by the test")
        for _ in range(5):  # its calls are read, meanwhile others may fail
            await asyncio.sleep(0)
        self.lines.append(f"take {shard}")
        self.leases[shard] = lease

    async def restore(self, shard: ShardId, lease: Lease) -> None:
        self.lines.append(f"restore {shard}")
        self.leases[shard] = lease

    def last_commit(self, shard: ShardId) -> int:
        return self.numbers.get(shard, 0)

    def required_format(self, shard: ShardId) -> int:
        return self.formats.get(shard, 0)

    def rewrite_lost(self, shard: ShardId) -> None:
        self.numbers.pop(shard, None)
        self.lines.append(f"rewrite {shard}")

    async def drain(self, shard: ShardId) -> None:
        self.lines.append(f"drain {shard}")

    def pause(self, shard: ShardId) -> None:
        self.lines.append(f"pause {shard}")

    def resume(self, shard: ShardId) -> None:
        self.lines.append(f"resume {shard}")

    def drop(self, shard: ShardId) -> None:
        self.lines.append(f"drop {shard}")
        self.leases.pop(shard, None)

    def calls(self, shard: ShardId) -> int:
        return self.live.get(shard, 0)

    def account_uses(self) -> dict[str, AccountUse]:
        """Have no calls."""
        return {}

    def node_reports(self) -> dict[str, NodeReport]:
        """Watch no node."""
        return {}

    def heard_s(self) -> dict[str, int]:
        """Hear no digits."""
        return {}

    def phones_revision(self) -> int:
        """Know no phones."""
        return 0

    def calls_by_node(self) -> dict[str, int]:
        return {"pbx1": sum(self.live.values())}

    def shards_of(self, method: str) -> list[ShardId]:
        """Return the shards of a method's calls, in order."""
        return [parse_shard(line.split()[-1]) for line in self.lines if line.startswith(method)]


class Member:
    """One engine: its lease manager and its shard host."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        name: str,
        store: ManualStore,
        time: ManualTime,
        shards: ShardMap,
        stored_format: int = 1,
        *,
        capacity: int = 5_000,
    ) -> None:
        self.host = RecordingShardOwner()
        self.membership = Membership(name, stored_format)
        self.unreachable: set[str] = set()
        context = ClusterContext(
            store,
            self.membership,
            self.host,
            shards,
            TIMINGS,
            time.monotonic,
            capacity=capacity,
        )
        self.leases = LeaseManager(context, f"http://{name}")
        self.reachability = self.leases.reachability

    def probe(self, *nodes: str) -> None:
        """Probe each node once."""
        for node in nodes:
            self.reachability.record(node, node not in self.unreachable)

    @property
    def held(self) -> set[ShardId]:
        """The shards whose leases hold."""
        return {shard for shard, lease in self.host.leases.items() if lease.holds}


class Cluster:
    """Several engines over one store; all probe the same nodes before each heartbeat."""

    def __init__(self, *names: str, slots: int = 8, nodes: tuple[str, ...] = ("pbx1",)) -> None:
        self.time = ManualTime()
        self.nodes = nodes
        self.store = ManualStore(self.time.now_ms)
        self._slots = slots
        self.members: dict[str, Member] = {}
        for name in names:
            self.add_engine(name)

    def __getitem__(self, name: str) -> Member:
        return self.members[name]

    def add_engine(self, name: str, stored_format: int = 1, capacity: int = 5_000) -> Member:
        """Start an engine."""
        shards = ShardMap(self._slots)
        member = Member(name, self.store, self.time, shards, stored_format, capacity=capacity)
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
        """Return how many shards each engine holds."""
        return {name: len(member.held) for name, member in self.members.items()}
