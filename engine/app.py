"""Building an engine out of its parts, and running it until it is told to stop."""

import asyncio
import gc
import ipaddress
import os
import random
import socket
import time
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

import structlog

from engine.ari.client import Ari, open_ari
from engine.ari.pbx import PbxAddress
from engine.config import NodeSettings, Settings
from engine.media.clip import Limits as MediaLimits
from engine.media.espeak import find_espeak
from engine.media.hibari import Hibari
from engine.media.library import Library
from engine.media.opening import opened
from engine.media.speakers import Speaker
from engine.rpc.server import Parts, serving
from engine.runtime.clock import LoopClock
from engine.runtime.desk import Desk, Place
from engine.runtime.errands import Errands
from engine.runtime.hearing import Hearing
from engine.runtime.node import Node
from engine.runtime.placement import Gate
from engine.runtime.reaper import Reaper
from engine.runtime.requests import Dialplan
from engine.runtime.switch import Rules, Switch
from engine.runtime.takeover import Owned, take_over
from engine.store.redis import RedisStore
from engine.webhooks.addresses import guarded_session
from engine.webhooks.ask import Asker
from engine.webhooks.sign import Signer
from wire.media import Speech
from wire.tree import Limits

log = structlog.get_logger()
LEAVE_S = 3.0
WARM_UP = Speech("Welcome.")  # the first caller to be spoken to need not wait for the voice
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Tasks = list[Coroutine[Any, Any, None]]


class Engine:
    """One engine process; `run` returns when `stop` was called or a slot was taken from it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._name = f"{socket.gethostname()}-{os.getpid()}"
        self._stop = asyncio.Event()
        self._limits = Limits(allow_insecure=settings.allow_insecure_webhooks)

    def stop(self) -> None:
        """End this process' work; its calls live on for the next engine."""
        self._stop.set()

    async def run(self) -> None:
        """Serve until stopped; raises StoreDown when the store can't be reached at the start."""
        async with AsyncExitStack() as house:
            store = RedisStore(self._settings.redis_url, kept_s=self._settings.kept_s)
            house.push_async_callback(store.close)
            clock = LoopClock(asyncio.get_running_loop())
            library = await self._library(house)
            errands = await self._errands(house, library, store)
            switch = self._switch(store, clock)
            owned = {
                slot: await take_over(store, slot, self._name, random.random, self.stop)
                for slot in range(self._settings.slots)
            }
            tasks = [each.writer.run() for each in owned.values()]
            for node in self._settings.nodes:
                ari = await house.enter_async_context(self._ari(node))
                desks = self._desks(node, ari, owned, clock, errands)
                switch.nodes[node.name] = Node(node.name, ari, desks, clock, switch.arrive)
                house.push_async_callback(switch.nodes[node.name].close)
                tasks += [ari.run(), *self._hearings(ari, switch.nodes[node.name])]
                tasks.append(Reaper(switch.nodes[node.name], self._settings.reap_s).run())
            for slot, each in owned.items():
                for stored in each.calls:
                    switch.adopt(stored, slot)
            await self._serve(
                Parts(switch, store, library, self._limits, self._settings.slots), owned, tasks
            )

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

    def _switch(self, store: RedisStore, clock: LoopClock) -> Switch:
        settings = self._settings
        rules = Rules(settings.slots, settings.longest_call_s * 1000, settings.caller_id)
        return Switch(
            store, clock, Gate(clock, settings.max_calls_per_s, settings.max_calls), rules
        )

    async def _library(self, house: AsyncExitStack) -> Library:
        settings = self._settings
        limits = MediaLimits()
        espeak = await find_espeak()
        speakers: list[Speaker] = [Hibari(limits), *([espeak] if espeak else [])]
        session = await house.enter_async_context(guarded_session(_networks(settings.media_allow)))
        return await house.enter_async_context(
            opened(settings.media_dir, session, speakers, _now_ms, limits)
        )

    async def _errands(self, house: AsyncExitStack, library: Library, store: RedisStore) -> Errands:
        secret = self._settings.webhook_secret
        signer = Signer(*([secret.get_secret_value()] if secret else []))
        allow = _networks(self._settings.webhook_allow)
        session = await house.enter_async_context(guarded_session(allow))
        asker = Asker(session, self._limits, signer, time.time, random.random)
        errands = Errands(library, asker, store, self._limits)
        house.push_async_callback(errands.close)
        return errands

    def _ari(self, node: NodeSettings) -> AbstractAsyncContextManager[Ari]:
        url = f"{str(node.url).rstrip('/')}/ari"
        address = PbxAddress(node.name, url, node.user, node.password.get_secret_value())
        return open_ari(address, f"switchroom-{self._name}", random.random, time.monotonic)

    def _desks(
        self,
        node: NodeSettings,
        ari: Ari,
        owned: dict[int, Owned],
        clock: LoopClock,
        errands: Errands,
    ) -> dict[int, Desk]:
        settings = self._settings
        media_url = str(node.media_url).rstrip("/")
        return {
            slot: Desk(
                Place(
                    node.name,
                    slot,
                    ari,
                    Dialplan(f"switchroom-{slot}", settings.trunk, settings.agent, media_url),
                ),
                clock,
                each.writer,
                errands,
            )
            for slot, each in owned.items()
        }

    def _hearings(self, ari: Ari, node: Node) -> Tasks:
        grace_ms = self._settings.node_grace_s * 1000
        return [
            ari.events(
                desk.place.plan.app, Hearing(node, slot, grace_ms, lambda _slot: self.stop())
            ).run()
            for slot, desk in node.desks.items()
        ]


def _quiet_garbage_collector() -> None:
    """Look for cycles seldom: calls are trees, and a look at 10,000 of them takes milliseconds."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def _networks(allowed: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(each) for each in allowed)


def _now_ms() -> int:
    return int(time.time() * 1000)
