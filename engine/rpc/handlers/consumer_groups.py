"""RPC operations on consumer groups; any engine serves the events of all shards from the store."""

import re
from collections.abc import Iterable

import msgspec
from aiohttp import web
from msgspec import Struct

from engine.rpc.json_body import read_query
from engine.rpc.lookup import shard_in
from engine.rpc.problems import NotFound
from engine.runtime.cluster.shard_map import ShardMap
from engine.store.store import Store
from engine.store.stream import Batch, Consumer, Gap, GroupState, StreamEntry
from wire.decoding.errors import BadInput
from wire.decoding.patterns import EVENT_ID
from wire.events import consumer_groups as wire
from wire.shard import ShardId


class _Delivered(msgspec.Struct, frozen=True, omit_defaults=True):
    """`wire.Delivered` with the event as stored: another version may have written it."""

    id: str
    event: msgspec.Raw
    again: bool = False


class ConsumerGroupHandlers(Struct, frozen=True):
    store: Store
    shards: ShardMap

    async def read(self, request: web.Request) -> dict[str, object]:
        """Deliver events to a consumer; the first read creates the group."""
        query = read_query(request, wire.ReadEvents)
        consumer = Consumer(query.group, query.consumer, int(query.idle * 1000))
        batch = await self.store.stream.read_group(
            consumer, self.shards.all, int(query.wait * 1000), query.limit
        )
        return _batch_view(batch)

    async def acknowledge(
        self, _request: web.Request, body: wire.AcknowledgeEvents
    ) -> wire.AcknowledgementResult:
        entries: dict[ShardId, list[str]] = {}
        gaps: dict[ShardId, str] = {}
        for index, each in enumerate(body.ids):
            shard, entry, is_gap = self._parse_id(each, index)
            if is_gap:
                gaps[shard] = entry
            else:
                entries.setdefault(shard, []).append(entry)
        return wire.AcknowledgementResult(
            await self.store.stream.acknowledge(body.group, entries, gaps)
        )

    async def list(self, _request: web.Request) -> wire.EventGroups:
        states = await self.store.stream.group_states(self.shards.all)
        return wire.EventGroups(_sum_shards(states))

    async def delete(self, request: web.Request) -> None:
        """Delete a group; events are no longer retained for it."""
        group = request.match_info["group"]
        if not await self.store.stream.drop_group(group, self.shards.all):
            raise NotFound(f"no group {group}")

    def _parse_id(self, event_id: str, index: int) -> tuple[ShardId, str, bool]:
        found = re.match(EVENT_ID, event_id)
        if found is None:
            raise BadInput(f"ids[{index}]", "not an event id")
        name, gap, entry = found.groups()
        return shard_in(self.shards, name, f"ids[{index}]"), entry, gap is not None


def _batch_view(batch: Batch) -> dict[str, object]:
    lost = tuple(map(_lost, batch.gaps))
    return {"events": tuple(map(_delivered, batch.entries))} | ({"lost": lost} if lost else {})


def _delivered(entry: StreamEntry) -> _Delivered:
    return _Delivered(f"{entry.shard}.{entry.id}", msgspec.Raw(entry.event), entry.redelivered)


def _lost(gap: Gap) -> wire.LostEvents:
    return wire.LostEvents(
        str(gap.shard), gap.first, gap.end, f"{gap.shard}.lost.{gap.end}", gap.max_lost
    )


def _sum_shards(states: Iterable[GroupState]) -> tuple[wire.EventGroup, ...]:
    totals: dict[str, wire.EventGroup] = {}
    for each in states:
        total = totals.get(each.group, wire.EventGroup(each.group, 0, 0))
        totals[each.group] = wire.EventGroup(
            each.group,
            total.lag + each.lag,
            total.pending + each.pending,
            total.lost + each.lost,
        )
    return tuple(totals.values())
