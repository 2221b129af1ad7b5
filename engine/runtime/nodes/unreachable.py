"""A node that is not configured any more: its calls are held, and end when the grace is over."""

import asyncio

from engine.ari.request import LOST, OnReply, Reply, Request
from engine.runtime.nodes.node import Node


class UnreachablePbx:
    """A PBX that nobody reaches."""

    def send(self, _request: Request, _key: str, _may_block: bool, done: OnReply) -> None:
        """Lose a request."""
        asyncio.get_running_loop().call_soon(done, LOST)

    async def ask(self, _request: Request) -> Reply:
        """Lose a request."""
        return LOST


async def never_connected(node: Node, slot: int, grace_ms: int) -> None:
    """Hear nothing, until cancelled."""
    node.on_disconnected(slot, grace_ms)
    await asyncio.Event().wait()
