"""RPC operations on PBX nodes: status, drain and undrain."""

from collections.abc import Iterable, Iterator
from itertools import chain

from aiohttp import web
from msgspec import Struct

from engine.rpc.peers.fan_out import FanOut
from engine.rpc.problems import NotFound
from engine.runtime.call_service import CallService
from engine.runtime.pbx_nodes.node import Node
from wire import rpc


class NodeHandlers(Struct, frozen=True):
    service: CallService
    fan_out: FanOut

    async def list(self, request: web.Request) -> rpc.Nodes:
        """List the nodes; an engine is connected to those whose shards it has."""
        local = map(self._view, self.service.nodes.values())
        remote = [nodes.nodes for nodes in await self.fan_out.collect(request, rpc.Nodes)]
        return rpc.Nodes(tuple(merge_nodes([*local, *chain(*remote)])))

    async def drain(self, request: web.Request) -> rpc.NodeView:
        """Stop new calls to a node; live calls continue."""
        return await self._set_drained(request, is_drained=True)

    async def undrain(self, request: web.Request) -> rpc.NodeView:
        return await self._set_drained(request, is_drained=False)

    async def _set_drained(self, request: web.Request, is_drained: bool) -> rpc.NodeView:
        name = request.match_info["node"]
        node = self.service.nodes.get(name)
        if node is None:
            raise NotFound(f"no node {name}")
        await self.service.drained_nodes.set_drained(name, is_drained)
        return self._view(node)

    def _view(self, node: Node) -> rpc.NodeView:
        node_selection = self.service.node_selection
        terms, obstacle = node_selection.status(node.name).limits, node_selection.unavailable(node)
        health = node_selection.health(node.name)
        return rpc.NodeView(
            name=node.name,
            connected=bool(node.shards) and not node.is_paused,
            calls=node_selection.calls_on(node.name),
            drained=node.name in self.service.drained_nodes.nodes,
            unavailable_reason=obstacle.code if obstacle else "",
            weight=terms.weight,
            max_calls=terms.max_calls,
            max_calls_per_s=terms.max_calls_per_s,
            ami_connected=health.is_watched,
            trunk_reachable=not health.is_trunk_unreachable,
            unregistered=health.unregistered,
            core_calls=health.calls,
            loss=health.loss,
            jitter_ms=health.jitter_ms,
        )


def merge_nodes(views: Iterable[rpc.NodeView]) -> Iterator[rpc.NodeView]:
    """Merge engines' views of the nodes: each as an engine sees it that is connected to it."""
    by_name: dict[str, rpc.NodeView] = {}
    for view in views:
        known = by_name.setdefault(view.name, view)
        if view.connected and not known.connected:
            by_name[view.name] = view
    yield from by_name.values()
