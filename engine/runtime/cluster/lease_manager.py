"""Keeps this engine's share of the shards: heartbeats, renewals, releases and claims.

Each heartbeat announces the engine, reads which others are alive, renews the leases
(`lease_operations.py`), plans who should have which shard (`share_plan.py`), releases shards and
claims others (`rebalancer.py`).
"""

import asyncio

import msgspec
import structlog

from base.tasks import wait_for_event
from engine.runtime.cluster.context import ClusterContext
from engine.runtime.cluster.lease import Lease
from engine.runtime.cluster.lease_operations import LeaseOperations
from engine.runtime.cluster.membership import Peer
from engine.runtime.cluster.node_duties import NodeDuties
from engine.runtime.cluster.pbx_reachability import PbxReachability
from engine.runtime.cluster.rebalancer import Rebalancer
from engine.store.compressed_call import DICTIONARY
from engine.store.errors import StoreDown
from wire.shard import ShardId

log = structlog.get_logger()
QUICK_RUNS = 5  # in a row, then heartbeats follow as usual
QUICK = 0.1  # of the interval between heartbeats


class LeaseManager:
    """Holds shards for one engine, whose RPC is at `url`; `run` is its only task."""

    def __init__(self, context: ClusterContext, url: str) -> None:
        self.is_leaving = False
        self.reachability = PbxReachability(context.monotonic, self.wake)
        self.duties = NodeDuties(context.members, context.monotonic)
        self._context = context
        self._store = context.store
        self._members = context.members
        self._timings = context.timings
        self._url = url
        self._leases = LeaseOperations(context, self.suspect, self._on_store_lost, self._announce)
        self._rebalancer = Rebalancer(context, self._leases)
        self._wake = asyncio.Event()
        self._running = asyncio.Lock()
        self._quick_runs = 0

    async def run(self) -> None:
        """Keep the shards until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen())
            while True:
                self._wake.clear()
                await self.run_once()
                await wait_for_event(self._wake, self.next_run_s())

    async def run_once(self) -> None:
        """Send a heartbeat, renew the leases, and move towards the fair share."""
        async with self._running:
            try:
                if self.is_leaving:  # requests that still arrive here are forwarded
                    self._members.update(await self._store.heartbeat(self._members.me, "", 0))
                    return
                await self._heartbeat()
                self._rebalancer.check_connection()
                await self._leases.renew()
                await self._share()
            except StoreDown as error:
                log.warning("store down: leases not renewed", error=str(error))
            self._leases.pause_expired()
            self._update_duties()

    def next_run_s(self) -> float:
        """Return when to run again: soon while others should claim shards that are free.

        Of two engines with nearly equal loads each may have left them to the other, as neither
        knew the other's last calls. New heartbeats settle that.
        """
        self._quick_runs = self._quick_runs + 1 if self._rebalancer.left_to_others else 0
        is_quick = 0 < self._quick_runs <= QUICK_RUNS
        return self._timings.heartbeat_s * (QUICK if is_quick else 1)

    async def _share(self) -> None:
        """Move towards the share of this engine."""
        nodes = self.reachability.nodes
        await self._context.shards.refresh(self._store, nodes)
        if not nodes:
            return
        await self._rebalancer.update_plan()
        self._update_duties()  # connects to nodes while the calls of their shards are loaded
        await self._rebalancer.release_excess()
        if await self._rebalancer.claim_missing():
            self.wake()  # the next heartbeat tells others about the new shards

    def _update_duties(self) -> None:
        self.duties.update(self.reachability.nodes, {*self.held, *self._rebalancer.takeovers})

    async def leave(self) -> None:
        """Release all shards, so that other engines continue their calls. Raises StoreDown."""
        self.is_leaving = True
        async with self._running:
            await self._store.heartbeat(self._members.me, "", 0)
            await self._leases.release(*self.held)

    def suspect(self, shard: ShardId) -> None:
        """Pause a shard that another engine may have, and check its lease at once."""
        if shard in self.held:
            self._leases.pause(shard)
            self._wake.set()

    @property
    def held(self) -> dict[ShardId, Lease]:
        return self._leases.held

    def wake(self) -> None:
        """Run the next heartbeat at once."""
        self._wake.set()

    def url_of(self, shard: ShardId | None) -> str | None:
        """Return the URL of the other engine that has a shard (None: any), if there is one."""
        return self._members.url_of(shard)

    @property
    def peer_urls(self) -> list[str]:
        return [peer.url for peer in self._members.peers]

    @property
    def is_settled(self) -> bool:
        """Whether this engine has its share, and live engines have the rest.

        A dead engine counts as live until its last heartbeat expires, so an engine started in its
        place has no share yet.
        """
        has_share = self.is_leaving or self._rebalancer.is_settled
        return has_share and not self._rebalancer.unowned

    async def _listen(self) -> None:
        """Wake on every change of shards or engines."""
        while True:
            try:
                async for _ in self._store.membership_changes():
                    self._wake.set()
            except StoreDown:
                await asyncio.sleep(self._timings.heartbeat_s)

    async def _heartbeat(self) -> None:
        host, held, reachability = self._context.host, self.held, self.reachability
        # An engine should prove that it reaches a node before it gets shards of it.
        nodes_of_shards = {shard.node for shard in held}
        unreachable = nodes_of_shards.intersection(reachability.unreachable)
        unreachable |= set(reachability.unproven) - nodes_of_shards
        reachable = reachability.reachable
        me = Peer(
            self._url,
            {str(shard): host.calls(shard) for shard in sorted(held)},
            host.calls_by_node(),
            reachable,
            tuple(sorted(unreachable)),
            tuple(sorted(reachability.nodes.difference(reachable, unreachable))),
            self._context.capacity,
            self._members.format,
            tuple(sorted(map(str, self._rebalancer.unreadable))),
            host.account_uses(),
            DICTIONARY,
            host.node_reports(),
            host.heard_s(),
            host.phones_revision(),
            {str(shard): to for shard, to in self._rebalancer.offers.items()},
        )
        body = msgspec.json.encode(me).decode()
        # Lasts as long as a lease: an engine leaves the membership when its shards become free.
        alive = await self._store.heartbeat(self._members.me, body, self._timings.lease_ms)
        if self._members.update(alive, self._context.monotonic()):
            self._rebalancer.delay_claims()

    async def _announce(self) -> None:
        if not self.is_leaving:  # else the others know already
            await self._heartbeat()

    def _on_store_lost(self) -> None:
        self._rebalancer.delay_claims()
