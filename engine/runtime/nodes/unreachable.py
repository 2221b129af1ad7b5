"""A node that is no longer configured: its calls end after the grace period."""

import asyncio

from engine.ari.request import LOST, OnReply, Reply, Request
from engine.runtime.nodes.node import Node


class UnreachablePbx:
    """A PBX that loses every request."""

    def send(self, _request: Request, _key: str, _may_block: bool, done: OnReply) -> None:
        asyncio.get_running_loop().call_soon(done, LOST)

    async def ask(self, _request: Request) -> Reply:
        return LOST


async def never_connected(node: Node, slot: int, grace_ms: int) -> None:
    """Stand in for a listener that never connects, until cancelled."""
    node.on_disconnected(slot, grace_ms)
    await asyncio.Event().wait()
