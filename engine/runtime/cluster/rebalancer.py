"""Moves this engine towards the plan: releases shards that others should have, claims its own.

For balance, shards are released one at a time, and only while another engine claims them: an engine
that died a moment ago still counts as a member, and calls of shards released for it would stop.
"""

import asyncio
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import inf

import structlog
from msgspec import Struct
from msgspec.structs import replace

from engine.runtime.cluster.context import ClusterContext
from engine.runtime.cluster.lease import Lease
from engine.runtime.cluster.lease_operations import LeaseOperations
from engine.runtime.cluster.share_plan import SharePlan, plan_shares
from wire.shard import ShardId

log = structlog.get_logger()
MAX_UNSTEADY_LEASES = 3
NO_PLAN = SharePlan()


class _Offer(Struct, frozen=True):
    """The engine that a shard was released for, which alone should claim it until a time."""

    to: str
    until_s: float


class Rebalancer:
    """Adjusts the held shards by one step per heartbeat."""

    def __init__(self, context: ClusterContext, leases: LeaseOperations) -> None:
        self._context = context
        self._store = context.store
        self._members = context.members
        self._timings = context.timings
        self._leases = leases
        self._plan = NO_PLAN
        self._expected: tuple[ShardId, ...] | None = None  # as of the last plan; None: no plan yet
        self._obsolete_in_use: frozenset[ShardId] = frozenset()  # as of the last plan
        self._released: ShardId | None = None  # for balance, the last one
        self._offers: dict[ShardId, _Offer] = {}
        self._release_from_s = 0.0
        self._connections = 0
        self._connected_s = self._unsteady_since_s = -inf
        self._claim_from_s = 0.0
        self._claim_lost_from_s = self._obsolete_from_s = 0.0
        self.unreadable: dict[ShardId, int] = {}  # with calls of a later format, and that format

    @property
    def is_settled(self) -> bool:
        """Whether this engine has its share, and each shard an owner, unless no engine has room."""
        return self._expected is not None and not self._plan.claims_of(self._members.me)

    @property
    def takeovers(self) -> list[ShardId]:
        """The shards that this engine should have because no other engine serves them."""
        return self._plan.takeovers_of(self._members.me)

    @property
    def left_to_others(self) -> list[ShardId]:
        """The shards that have no owner, and that other engines should claim."""
        return [shard for shard, to in self._plan.free.items() if to != self._members.me]

    @property
    def offers(self) -> dict[ShardId, str]:
        """The shards that this engine has just released, and the engines that it did so for."""
        now_s, owned = self._context.monotonic(), {*self._leases.held, *self._members.held}
        return {
            shard: offer.to
            for shard, offer in self._offers.items()
            if now_s < offer.until_s and shard not in owned
        }

    @property
    def unowned(self) -> list[ShardId]:
        """The shards without an owner, as far as this engine knows; some may have to wait."""
        owned = self._members.held.keys() | self._leases.held.keys() | self._plan.waiting
        return [shard for shard in self._expected or () if shard not in owned]

    def check_connection(self) -> None:
        """After a reconnect, claim nothing for a while: the new server may lack a renewal.

        See decision 0030. Nothing is released either, as no engine would claim it. If the
        connection breaks again and again, claims wait for `MAX_UNSTEADY_LEASES` at most, so that
        the shards of dead engines are still taken over.
        """
        before, self._connections = self._connections, self._store.connections
        if before in {0, self._connections}:
            return
        now_s, lease_s = self._context.monotonic(), self._timings.lease_s
        if now_s - self._connected_s >= lease_s:
            self._unsteady_since_s = now_s
        self._connected_s = now_s
        until_s = min(now_s, self._unsteady_since_s + (MAX_UNSTEADY_LEASES - 1) * lease_s) + lease_s
        self._claim_from_s = until_s
        self._release_from_s = max(self._release_from_s, until_s + self._timings.heartbeat_s)

    def delay_claims(self) -> None:
        """Give other engines time to restore shards that the store may have lost."""
        self._claim_lost_from_s = self._context.monotonic() + self._timings.lease_s

    async def update_plan(self) -> None:
        """Make a plan from the last heartbeats; raises StoreDown."""
        held, members, host = self._leases.held, self._members, self._context.host
        shards = self._context.shards
        owned = members.held.keys() | held.keys()
        nodes = members.nodes
        expected = [ShardId(node, slot) for node in sorted(nodes) for slot in range(shards.slots)]
        obsolete = self._unowned_obsolete(owned.union(expected))
        free = [shard for shard in expected if shard not in owned]
        # Retired shards, and those of nodes that no engine has any more, are owned until empty.
        read = [*free, *sorted(obsolete)]
        work = dict(zip(read, await self._store.workloads(read), strict=True)) if read else {}
        left = [shard for shard in obsolete if not work[shard].is_empty]
        self._obsolete_in_use = frozenset(owned.difference(expected).union(left))
        self._note_unreadable()
        states = members.states()
        if members.me in states:
            own = {shard: host.calls(shard) for shard in held}
            states[members.me] = replace(states[members.me], shards=own)
        unreadable = members.unreadable
        unreadable |= {s: max(unreadable.get(s, 0), members.format) for s in self.unreadable}
        loads = {shard: work[shard].calls for shard in (*free, *left)}
        self._plan = plan_shares(states, loads, unreadable, members.offers)
        self._expected = (*expected, *left)

    def _unowned_obsolete(self, others: AbstractSet[ShardId]) -> set[ShardId]:
        """Return the shards that get no new calls and have no owner: all of them once in a lease.

        Those that had an owner a heartbeat ago are always among them: it may just have released
        them for another engine.
        """
        now_s = self._context.monotonic()
        if now_s < self._obsolete_from_s:
            return set(self._obsolete_in_use.difference(others))
        self._obsolete_from_s = now_s + self._timings.lease_s
        return {*self._context.shards.all, *self._obsolete_in_use}.difference(others)

    async def release_excess(self) -> None:
        """Release shards that this engine can't serve, and one that makes loads more equal.

        The next one follows a heartbeat later: no engine is flooded.
        """
        held, me = self._leases.held, self._members.me
        if urgent := [shard for shard in self._plan.urgent if shard in held]:
            log.warning(
                "another engine can serve shards that this one can't; releasing them",
                shards=[str(shard) for shard in urgent],
            )
            self._offer({shard: self._plan.urgent[shard] for shard in urgent})
            await self._leases.release(*urgent)
        await self._release_obsolete()
        is_time = self._context.monotonic() >= self._release_from_s
        if is_time and await self._was_claimed():
            for shard, to in self._plan.moves.items():
                if shard in held and to != me:
                    self._offer({shard: to})
                    await self._release(shard)
                    return

    async def claim_missing(self) -> bool:
        """Claim what this engine should have; returns whether it got any."""
        wanted = [s for s in self._plan.claims_of(self._members.me) if s not in self._leases.held]
        if not wanted or self._is_waiting:
            return False
        claimable = [shard for shard in wanted if await self._is_claimable(shard)]
        claims = await asyncio.gather(*map(self._claim, claimable), return_exceptions=True)
        claimed = [
            (shard, lease)
            for shard, lease in zip(claimable, claims, strict=True)
            if isinstance(lease, Lease)
        ]
        await self._leases.take(claimed)  # even if another claim failed
        _raise_first(claims)
        return bool(claimed)

    def _note_unreadable(self) -> None:
        """Remember which shards have calls that this engine cannot read, while another one can."""
        held, host = self._leases.held, self._context.host
        self.unreadable |= {shard: need for shard in held if (need := host.required_format(shard))}
        self.unreadable = {
            shard: needed
            for shard, needed in self.unreadable.items()
            if shard in held or self._members.can_read(needed)
        }

    async def _release_obsolete(self) -> None:
        """Release shards that get no new calls, once nothing of their calls is left to do."""
        held, host, shards = self._leases.held, self._context.host, self._context.shards
        nodes = self._members.nodes
        unused = [
            shard
            for shard in held
            if (shard.slot >= shards.slots or shard.node not in nodes) and not host.calls(shard)
        ]
        work = await self._store.workloads(unused) if unused else []
        await self._leases.release(
            *(shard for shard, each in zip(unused, work, strict=True) if each.is_empty)
        )

    @property
    def _is_waiting(self) -> bool:
        return self._context.monotonic() < self._claim_from_s

    async def _claim(self, shard: ShardId) -> Lease | None:
        return await self._leases.claim(shard, self._members.holder(shard))

    def _offer(self, targets: Mapping[ShardId, str]) -> None:
        """Let others leave the claims of shards to these engines, for a lease at most."""
        now_s = self._context.monotonic()
        current = {shard: each for shard, each in self._offers.items() if now_s < each.until_s}
        until_s = now_s + self._timings.lease_s
        self._offers = current | {shard: _Offer(to, until_s) for shard, to in targets.items()}

    async def _release(self, shard: ShardId) -> None:
        self._release_from_s = self._context.monotonic() + self._timings.heartbeat_s
        self._released = shard
        await self._leases.release(shard)

    async def _was_claimed(self) -> bool:
        """Return whether another engine has the shard released last; reclaim it if not."""
        shard = self._released
        if shard is None or shard in self._leases.held:
            return True
        if self._is_waiting:
            return False
        lease = await self._claim(shard)
        self._released = None  # only now: the store may have been down
        if lease is None:
            return True
        log.warning("released shard not claimed, reclaiming", shard=str(shard))
        # By then, dead engines are known.
        self._release_from_s = self._context.monotonic() + self._timings.lease_s
        await self._leases.take([(shard, lease)])
        return False

    async def _is_claimable(self, shard: ShardId) -> bool:
        """Return False while the owner of a shard that the store may have lost may still return."""
        is_waiting = self._context.monotonic() < self._claim_lost_from_s
        return not is_waiting or await self._store.owner(shard) != ""


def _raise_first(results: Sequence[object]) -> None:
    for each in results:
        if isinstance(each, BaseException):
            raise each
