"""Planted faults of a cluster: broken parts that a check must find."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from typing import Any

from engine.ari.generated.operations import channels
from engine.ari.request import OnReply, Reply, Request
from engine.calls.model.requests import CallRequest
from engine.runtime.base.interfaces import Pbx
from engine.runtime.ownership.shard_lifecycle import ShardLifecycle
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.shard import CallShard
from engine.runtime.shard.step_runner import OnStored
from engine.webhooks.action_client import ActionClient, ActionResponse
from tests.harness.sim.redis import SimLink
from tests.harness.sim.webhooks import SimActionClient
from wire.shard import ShardId


class EndlessLease:
    """A lease that never ends."""

    holds = True
    unseen_ms = 0


class _StoreProxy:
    """A store connection with one fault."""

    def __init__(self, link: SimLink) -> None:
        self._link = link

    def __getattr__(self, name: str) -> Any:
        return getattr(self._link, name)


class MissingCallStore(_StoreProxy):
    """Omits the last call when a shard is taken over."""

    async def live(self, shard: ShardId) -> AsyncIterator[tuple[str, str, bytes]]:
        found = [each async for each in self._link.live(shard)]
        for each in found[:-1]:
            yield each


class IsolatedStore(_StoreProxy):
    """Omits the other engines."""

    async def heartbeat(self, engine: str, body: str, lease_ms: int) -> dict[str, str]:
        alive = await self._link.heartbeat(engine, body, lease_ms)
        return {name: each for name, each in alive.items() if name == engine}


class OneTimeListener:
    """Ignores every connection of its websocket but the first."""

    def __init__(self, listener: Any) -> None:
        self._listener = listener
        self._backs = itertools.count()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._listener, name)

    def on_connected(self) -> None:
        if not next(self._backs):
            self._listener.on_connected()


class SlowHandover:
    """Hands shards over half a second late."""

    def __init__(self, shards: ShardLifecycle) -> None:
        self._shards = shards

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shards, name)

    async def drain(self, shard: ShardId) -> None:
        await self._shards.drain(shard)
        await asyncio.sleep(0.5)  # of virtual time


class RenamingActionClient(ActionClient):
    """Sends webhooks with request ids of its own."""

    def __init__(self, action_client: SimActionClient, engine: str) -> None:
        self._action_client = action_client
        self._engine = engine

    async def ask(
        self, account: str, url: str, body: bytes, request_id: str, sensitive: str = ""
    ) -> ActionResponse:
        request = f"{request_id}-{self._engine}"
        return await self._action_client.ask(account, url, body, request, sensitive)


class DeferringShard(CallShard):
    """Accepts requests while its node is away, but keeps them in memory."""

    def request(self, live_call: LiveCall, request: CallRequest, stored: OnStored) -> None:
        if self.is_paused:
            self.pause_buffer.append(live_call, request)
            stored()
        else:
            super().request(live_call, request, stored)


class BlindPbx:
    """A PBX connection that sometimes lists no channels."""

    def __init__(self, pbx: Pbx) -> None:
        self.send = pbx.send
        self.keeps_order = pbx.keeps_order
        self._pbx = pbx
        self._looks = itertools.count(1)

    async def ask(self, request: Request) -> Reply:
        reply = await self._pbx.ask(request)
        is_look = request.path == "channels" and reply.ok
        return Reply(200, b"[]") if is_look and not next(self._looks) % 5 else reply


class HangingUpPbx:
    """A PBX connection that hangs up some legs to which a prompt is played."""

    def __init__(self, pbx: Pbx, every: int) -> None:
        self.ask = pbx.ask
        self.keeps_order = pbx.keeps_order
        self._pbx = pbx
        self._every = every
        self._plays = itertools.count(1)

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        self._pbx.send(request, key, may_block, done)
        _, target, *more = request.path.split("/")
        if more[:1] == ["play"] and not next(self._plays) % self._every:
            self._pbx.send(channels.hangup(target), key, False, lambda _reply: None)
