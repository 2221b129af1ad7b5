"""Runs scripts on the primary that has their key, each over its own connection."""

import asyncio

from engine.store.errors import StoreDown
from engine.store.redis.cluster.topology import Topology
from engine.store.redis.script_connection import NEW_CONNECTION, LuaScript, ScriptResult

# A hash slot that is being moved: its keys are at two nodes, and a script must see all of them.
BEING_MOVED = ("ASK ", "TRYAGAIN")
RETRY_S = 0.02


class ClusterScripts:
    """Implements `ScriptRunner`."""

    def __init__(self, topology: Topology, timeout_s: float) -> None:
        self._topology = topology
        self._timeout_s = timeout_s

    @property
    def connections(self) -> int:
        return self._topology.connections

    async def run(
        self, script: LuaScript, key: str, argument: bytes, *, may_open: bool = True
    ) -> ScriptResult:
        """Run a repeatable script; raises StoreDown."""
        loop = asyncio.get_running_loop()
        until_s = loop.time() + self._timeout_s
        while True:
            node = await self._topology.of_key(key)
            if not may_open and not self._topology.is_known(node):
                await node.scripts.open()
                raise StoreDown(NEW_CONNECTION)
            try:
                return await node.scripts.run(script, key, argument, may_open=may_open)
            except StoreDown as error:
                reason = str(error)
                if reason.startswith("MOVED "):
                    self._topology.move(reason)
                elif not reason.startswith(BEING_MOVED):
                    # The primary may be dead or demoted: is there another one by now?
                    self._topology.suspect()
                    if await self._topology.of_key(key) is node:
                        raise
                if loop.time() >= until_s:
                    raise
            await asyncio.sleep(RETRY_S)

    async def close(self) -> None:
        """Do nothing: the client closes the topology, with all connections."""
