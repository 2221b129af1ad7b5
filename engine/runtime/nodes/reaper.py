"""The reaper: a channel or bridge that is nobody's, and a call whose legs are gone, seen twice.

Twice, because what is made between two looks is nobody's for a moment (design fact 9).
"""

import asyncio

import structlog

from engine.ari.generated.models import Channel
from engine.ari.generated.operations import bridges
from engine.calls.model.ids import call_of, slot_and_node
from engine.calls.recovery.snapshot import PbxSnapshot
from engine.observe.metrics import Metrics
from engine.runtime.nodes.node import Node
from engine.runtime.pbx.snapshot import PbxUnavailable, take_snapshot

log = structlog.get_logger()


class Reaper:
    """Sweeps one node."""

    def __init__(self, node: Node, period_s: float, meter: Metrics | None = None) -> None:
        self._node = node
        self._reaped = (meter or Metrics()).nodes.orphans_removed.table()
        self._period_s = period_s
        self._suspects: frozenset[str] = frozenset()

    async def run(self) -> None:
        """Sweep until cancelled."""
        while True:
            await asyncio.sleep(self._period_s)
            try:
                await self.sweep()
            except PbxUnavailable as error:
                self._suspects = frozenset()
                log.info("reaper waits for the pbx", node=self._node.name, error=str(error))

    async def sweep(self) -> None:
        """Look once; end what was a suspect at the last look too. Raises PbxAway."""
        seen, channels = await take_snapshot(self._node.pbx, ())
        suspects = frozenset(
            {*self._stray_channels(channels), *self._stray_bridges(seen), *self._bereft(seen)}
        )
        for each in sorted(suspects & self._suspects):
            await self._end(each, seen)
        self._suspects = suspects - self._suspects

    async def _end(self, suspect: str, seen: PbxSnapshot) -> None:
        call = suspect if slot_and_node(suspect) else call_of(suspect)
        log.warning("reaped", call_id=call, node=self._node.name, what=suspect)
        self._reaped[self._node.name] += 1
        if suspect in seen.bridges:
            await self._node.pbx.ask(bridges.destroy(suspect))
        elif suspect in seen.channels:
            for desk in list(self._node.shards.values())[:1]:  # none is left when all slots went
                desk.context.hang_up_channel(suspect)
        else:
            self._node.verify_call(suspect)

    def _stray_channels(self, channels: tuple[Channel, ...]) -> list[str]:
        return [channel.id for channel in channels if self._is_stray(channel)]

    def _is_stray(self, channel: Channel) -> bool:
        if (call := call_of(channel.id)) is not None:
            return self._is_strays(call)
        if channel.dialplan.app_name != "Stasis":
            return False
        app = channel.dialplan.app_data.partition(",")[0]
        desks = (d for d in self._node.shards.values() if d.context.endpoints.app == app)
        return any(
            not desk.is_paused and desk.find_by_channel(channel.id) is None for desk in desks
        )

    def _stray_bridges(self, seen: PbxSnapshot) -> list[str]:
        owners = ((bridge, call_of(bridge)) for bridge in seen.bridges)
        return [bridge for bridge, call in owners if call is not None and self._is_strays(call)]

    def _is_strays(self, call: str) -> bool:
        """Tell whether a call of this node's, in a slot of ours, is not alive."""
        slot, node = slot_and_node(call) or (-1, "")
        desk = self._node.shards.get(slot)
        is_ours = node == self._node.name and desk is not None and not desk.is_paused
        return is_ours and desk is not None and call not in desk.actors

    def _bereft(self, seen: PbxSnapshot) -> list[str]:
        """Name the live calls of which no leg is left."""
        return [
            actor.call.id
            for desk in self._node.shards.values()
            if not desk.is_paused
            for actor in desk.actors.values()
            if actor.call.legs and not any(leg.id in seen.channels for leg in actor.call.legs)
        ]
