"""The PBX nodes over RPC: how they are, and whether they get new calls."""

from aiohttp import web

from engine.rpc.json_body import json_response
from engine.rpc.problems import NotFound
from engine.runtime.nodes.node import Node
from engine.runtime.service import CallService
from wire import rpc


class NodeHandlers:
    """One method a request."""

    def __init__(self, switch: CallService) -> None:
        self._switch = switch

    def routes(self) -> list[web.RouteDef]:
        """Say what is answered where."""
        return [
            web.get("/nodes", self.list),
            web.post("/nodes/{node}/drain", self.drain),
            web.post("/nodes/{node}/undrain", self.undrain),
        ]

    async def list(self, _request: web.Request) -> web.Response:
        """List the nodes as this engine sees them."""
        return json_response(rpc.Nodes(tuple(map(self._view, self._switch.nodes.values()))))

    async def drain(self, request: web.Request) -> web.Response:
        """Give a node no new call; its live ones go on."""
        return await self._put(request, is_drained=True)

    async def undrain(self, request: web.Request) -> web.Response:
        """Give a node new calls again."""
        return await self._put(request, is_drained=False)

    async def _put(self, request: web.Request, is_drained: bool) -> web.Response:
        name = request.match_info["node"]
        node = self._switch.nodes.get(name)
        if node is None:
            raise NotFound(f"no node {name}")
        await self._switch.drained_nodes.set_drained(name, is_drained)
        return json_response(self._view(node))

    def _view(self, node: Node) -> rpc.NodeView:
        placement = self._switch.placement
        standing, obstacle = placement.status(node.name), placement.unavailable(node)
        terms, health = standing.limits, standing.health
        return rpc.NodeView(
            name=node.name,
            connected=bool(node.shards) and not node.is_paused,
            calls=placement.calls(node.name),
            drained=node.name in self._switch.drained_nodes.nodes,
            unavailable_reason=obstacle.code if obstacle else "",
            weight=terms.weight,
            max_calls=terms.max_calls,
            max_calls_per_s=terms.max_calls_per_s,
            ami_connected=health.is_watched,
            trunk_reachable=not health.is_trunk_unreachable,
            unregistered=health.unregistered,
            core_calls=health.reported_calls,
            loss=round(health.quality.loss, 4),
            jitter_ms=round(health.quality.jitter_ms, 1),
        )
