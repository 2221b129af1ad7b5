"""The PBX nodes over RPC."""

from aiohttp import web

from engine.rpc.bodies import answer
from engine.runtime.switch import Switch
from wire import rpc


class NodeHandlers:
    """One method a request."""

    def __init__(self, switch: Switch) -> None:
        self._switch = switch

    async def list(self, _request: web.Request) -> web.Response:
        """List the nodes as this engine sees them."""
        views = (
            rpc.NodeView(node.name, not node.is_away, node.live)
            for node in self._switch.nodes.values()
        )
        return answer(rpc.Nodes(tuple(views)))
