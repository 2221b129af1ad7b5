"""The reaper: removes orphaned channels and bridges, and verifies calls whose legs have ended.

It acts on what two sweeps in a row show: a channel created between them is an orphan for a moment.
"""

import asyncio

import structlog

from engine.ari.generated.models import Channel
from engine.ari.generated.operations import bridges
from engine.calls.recovery.pbx_snapshot import PbxSnapshot
from engine.observe.metrics import Metrics
from engine.runtime.pbx.ari_events import stasis_app
from engine.runtime.pbx.snapshot import PbxUnavailable, take_snapshot
from engine.runtime.pbx_nodes.node import Node
from wire.call_id_format import call_of, shard_of

log = structlog.get_logger()


class Reaper:
    """Sweeps one node periodically."""

    def __init__(self, node: Node, period_s: float, metrics: Metrics | None = None) -> None:
        self._node = node
        self._removed = (metrics or Metrics()).nodes.orphans_removed.table()
        self._period_s = period_s
        self._suspects: frozenset[str] = frozenset()

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._period_s)
            try:
                await self.sweep()
            except PbxUnavailable as error:
                self._suspects = frozenset()
                log.info("reaper: pbx not responding", node=self._node.name, error=str(error))

    async def sweep(self) -> None:
        """Sweep once and remove what the last sweep suspected, too; raises PbxUnavailable."""
        snapshot, channels = await take_snapshot(self._node.pbx, ())
        suspects = frozenset(
            {
                *self._orphan_channels(channels),
                *self._orphan_bridges(snapshot),
                *self._calls_without_legs(snapshot),
            }
        )
        for each in sorted(suspects & self._suspects):
            await self._remove(each, snapshot)
        self._suspects = suspects - self._suspects

    async def _remove(self, suspect: str, snapshot: PbxSnapshot) -> None:
        call = suspect if shard_of(suspect) else call_of(suspect)
        log.warning("orphan removed", call_id=call, node=self._node.name, resource=suspect)
        self._removed[self._node.name] += 1
        if suspect in snapshot.bridges:
            await self._node.pbx.ask(bridges.destroy(suspect))
        elif suspect in snapshot.channels:
            for shard in list(self._node.shards.values())[:1]:  # none when all shards were released
                shard.context.hang_up_channel(suspect)
        else:
            self._node.verify_call(suspect)

    def _orphan_channels(self, channels: tuple[Channel, ...]) -> list[str]:
        return [channel.id for channel in channels if self._is_orphan(channel)]

    def _is_orphan(self, channel: Channel) -> bool:
        if (call := call_of(channel.id)) is not None:
            return self._is_ended(call)
        app = stasis_app(channel)
        shards = (
            shard for shard in self._node.shards.values() if shard.context.endpoints.app == app
        )
        return any(
            not shard.is_paused
            and shard.find_by_channel(channel.id) is None
            and not shard.is_left_alone(channel.id)
            for shard in shards
        )

    def _orphan_bridges(self, snapshot: PbxSnapshot) -> list[str]:
        owners = ((bridge, call_of(bridge)) for bridge in snapshot.bridges)
        return [bridge for bridge, call in owners if call is not None and self._is_ended(call)]

    def _is_ended(self, call: str) -> bool:
        """Return whether a call of this node and of an owned shard is not live."""
        found = shard_of(call)
        if found is None or found.node != self._node.name:
            return False
        shard = self._node.shards.get(found.slot)
        if shard is None or shard.is_paused:
            return False
        return call not in shard.calls and not shard.is_left_alone(call)

    def _calls_without_legs(self, snapshot: PbxSnapshot) -> list[str]:
        """Return the ids of live calls that have no leg on the PBX."""
        return [
            live_call.call.id
            for shard in self._node.shards.values()
            if not shard.is_paused
            for live_call in shard.calls.values()
            if live_call.call.legs
            and not any(leg.id in snapshot.channels for leg in live_call.call.legs)
        ]
