"""RPC operation that lists the engines: any of them has the view of all."""

from aiohttp import web
from msgspec import Struct

from engine.rpc.handlers.cluster.report import ClusterPlace, EngineReport, view_of_heartbeat
from engine.rpc.peers.client import is_forwarded
from engine.rpc.peers.fan_out import FanOut
from engine.runtime.cluster.shard_map import ShardMap
from wire.cluster import Engines


class EngineHandlers(Struct, frozen=True):
    report: EngineReport
    place: ClusterPlace
    shards: ShardMap
    fan_out: FanOut

    async def list(self, request: web.Request) -> Engines:
        """List the engines that have a heartbeat, each as it reports itself if it responds.

        Unlike other operations, this one does not wait for an engine that is being replaced: that
        is what an operator wants to see.
        """
        views = {self.place.name: self.report.view()}
        if is_forwarded(request):
            return Engines(tuple(views.values()))
        for others in await self.fan_out.collect_responding(request, Engines):
            views |= {each.engine: each for each in others.engines}
        for name, peer in self.place.others().items():
            views.setdefault(name, view_of_heartbeat(name, peer))
        owned = {shard.shard for view in views.values() for shard in view.shards}
        layout = self.shards.layout
        active = [str(each) for each in self.shards.all if not layout.is_retired(each)]
        return Engines(
            tuple(view for _name, view in sorted(views.items())),
            tuple(each for each in active if each not in owned),
        )
