"""One engine process: put together, serving, and leaving its calls to the next."""

import asyncio
import gc
import os
import random
import socket
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from typing import Any

import structlog

from engine import building
from engine.ari.client import Ari
from engine.config import Settings
from engine.rpc.server import Parts, serving
from engine.runtime.archivist import Archivist
from engine.runtime.clock import LoopClock
from engine.runtime.hearing import Hearing
from engine.runtime.node import Node
from engine.runtime.presence import APP, UNUSED_EVENTS, NodePresence
from engine.runtime.reaper import Reaper
from engine.runtime.roster import Roster
from engine.runtime.takeover import Claimant, Owned, take_over
from engine.store.redis import RedisStore
from engine.store.writer import Pace
from wire.media import Speech
from wire.tree import Limits

log = structlog.get_logger()
LEAVE_S = 3.0
WARM_UP = Speech("Welcome.")  # the first caller to be spoken to need not wait for the voice
Tasks = list[Coroutine[Any, Any, None]]


class Engine:
    """One engine process; `run` returns when `stop` was called or a slot was taken from it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._name = f"{socket.gethostname()}-{os.getpid()}"
        self._stop = asyncio.Event()
        self._limits = Limits(
            allow_insecure=settings.allow_insecure_webhooks, sip_hosts=settings.sip_hosts
        )

    def stop(self) -> None:
        """End this process' work; its calls live on for the next engine."""
        self._stop.set()

    async def run(self) -> None:
        """Serve until stopped; raises StoreDown when the store can't be reached at the start."""
        settings = self._settings
        async with AsyncExitStack() as house:
            store = RedisStore(settings.redis_url, kept_s=settings.kept_s)
            house.push_async_callback(store.close)
            clock = LoopClock(asyncio.get_running_loop())
            library = await building.library(settings, house)
            errands = await building.errands(settings, house, library, store, self._limits)
            roster = building.roster(settings, house, store, clock)
            switch = roster.switch
            owned = await self._take_over(store)
            nodes = building.Nodes(settings, clock, owned, errands, roster.directory)
            archive = await building.archive(settings)
            tasks = [each.writer.run() for each in owned.values()]
            for named in settings.nodes:
                ari = await house.enter_async_context(building.ari(named, self._name))
                recorder = await building.recorder(settings, house, named, ari, archive)
                node = switch.nodes[named.name] = nodes.node(named, ari, switch, recorder)
                node.party_of = roster.party_of
                house.push_async_callback(node.close)
                tasks += self._work(ari, node)
                if recorder is not None:
                    tasks.append(Archivist(node, recorder, settings.recordings_s).run())
                tasks.append(_watch(ari, roster, house))
            for slot, each in owned.items():
                for stored in each.calls:
                    switch.adopt(stored, slot)
            await self._serve(
                Parts(switch, store, library, self._limits, settings.slots, roster), owned, tasks
            )

    async def _take_over(self, store: RedisStore) -> dict[int, Owned]:
        claimant = Claimant(self._name, random.random, Pace(), self.stop)
        slots = range(self._settings.slots)
        return {slot: await take_over(store, slot, claimant) for slot in slots}

    def _work(self, ari: Ari, node: Node) -> Tasks:
        grace_ms = self._settings.node_grace_s * 1000
        hearings = [
            ari.events(desk.place.plan.app, Hearing(node, slot, grace_ms, self._replaced)).run()
            for slot, desk in node.desks.items()
        ]
        return [ari.run(), Reaper(node, self._settings.reap_s).run(), *hearings]

    def _replaced(self, slot: int) -> None:
        log.error("stopping: a slot was taken over", slot=slot)
        self.stop()

    async def _serve(self, parts: Parts, owned: dict[int, Owned], tasks: Tasks) -> None:
        settings = self._settings
        token = settings.rpc_token.get_secret_value()
        async with serving(parts, token, settings.rpc_host, settings.rpc_port):
            working = asyncio.gather(*tasks)
            stopped = asyncio.create_task(self._stop.wait())
            parts.library.prefetch((WARM_UP,))
            _quiet_garbage_collector()
            log.info("engine up", engine=self._name, calls=parts.switch.live)
            ends: list[asyncio.Future[Any]] = [working, stopped]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            await self._leave(owned)
        for task in (working, stopped):
            task.cancel()
        outcome, _ = await asyncio.gather(working, stopped, return_exceptions=True)
        if isinstance(outcome, Exception):
            raise outcome

    async def _leave(self, owned: dict[int, Owned]) -> None:
        """Let what was decided be stored; what the store can't take now, recovery finds out."""
        try:
            async with asyncio.timeout(LEAVE_S):
                await asyncio.gather(*(each.writer.drained() for each in owned.values()))
        except TimeoutError:
            log.warning("left with changes unstored")


def _watch(ari: Ari, roster: Roster, house: AsyncExitStack) -> Coroutine[Any, Any, None]:
    """Know which agents are registered at a node."""
    presence = NodePresence(ari.name, ari, roster.directory.is_trunk)
    roster.presences[ari.name] = presence
    house.push_async_callback(presence.close)
    return ari.events(APP, presence, UNUSED_EVENTS).run()


def _quiet_garbage_collector() -> None:
    """Look for cycles seldom: calls are trees, and a look at 10,000 of them takes milliseconds."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
