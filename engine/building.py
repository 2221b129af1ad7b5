"""The parts of an engine, each built from the settings; `app` puts them together."""

import ipaddress
import random
import time
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

from aiohttp import ClientSession

from engine.ari.client import Ari, open_ari
from engine.ari.pbx import PbxAddress
from engine.config import NodeSettings, Settings
from engine.media.clip import Limits as MediaLimits
from engine.media.espeak import find_espeak
from engine.media.hibari import Hibari
from engine.media.library import Library
from engine.media.opening import opened
from engine.media.speakers import Speaker
from engine.observe.instruments import Instruments
from engine.runtime.agents import Directory
from engine.runtime.clock import Clock
from engine.runtime.desk import Desk, Place
from engine.runtime.errands import Asker as AskerPort
from engine.runtime.errands import Errands
from engine.runtime.hearing import Hearing
from engine.runtime.lease import Lease, LeasedPbx
from engine.runtime.metered import MeteredAsker
from engine.runtime.node import Node
from engine.runtime.placement import Gate
from engine.runtime.ports import Pbx
from engine.runtime.requests import Dialplan
from engine.runtime.roster import Roster
from engine.runtime.strain import Strain, TimedPbx
from engine.runtime.switch import Rules, Switch
from engine.runtime.traced import TracedAsker, TracedPbx
from engine.store.store import Store
from engine.store.writer import Writer
from engine.webhooks.addresses import guarded_session
from engine.webhooks.ask import Asker
from engine.webhooks.sign import Signer
from wire.tree import Limits

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def roster(
    settings: Settings, house: AsyncExitStack, store: Store, clock: Clock, seen: Instruments
) -> Roster:
    """Build the directory of agents and the switch, without nodes yet."""
    directory = Directory(store, clock.now_ms, settings.agent_endpoint, settings.trunk_endpoint)
    house.push_async_callback(directory.close)
    rules = Rules(settings.slots, settings.longest_call_s * 1000, settings.caller_id)
    gate = Gate(clock, settings.max_calls_per_s, settings.max_calls)
    switch = Switch(store, clock, gate, rules, directory=directory, meter=seen.meter)
    if seen.traces is not None:
        switch.follow = seen.traces.follow
    return Roster(directory, switch)


async def library(settings: Settings, house: AsyncExitStack, seen: Instruments) -> Library:
    """Open the audio library, with the voices that this machine has."""
    limits = MediaLimits()
    espeak = await find_espeak()
    speakers: list[Speaker] = [Hibari(limits), *([espeak] if espeak else [])]
    session = await house.enter_async_context(guarded_session(_networks(settings.media_allow)))
    return await house.enter_async_context(
        opened(settings.media_dir, session, speakers, _now_ms, limits, meter=seen.meter)
    )


async def errands(  # noqa: PLR0913, PLR0917 - the parts that an engine is put together from
    settings: Settings,
    house: AsyncExitStack,
    audio: Library,
    store: Store,
    limits: Limits,
    seen: Instruments,
) -> Errands:
    """Build what runs calls' errands; its session asks customers' servers and nobody else."""
    secret = settings.webhook_secret
    signer = Signer(*([secret.get_secret_value()] if secret else []))
    # No limit of ours: each question belongs to a live call, and those are limited.
    session = await house.enter_async_context(
        guarded_session(_networks(settings.webhook_allow), limit=0, limit_per_host=0)
    )
    running = Errands(audio, _asker(session, limits, signer, seen), store, limits)
    house.push_async_callback(running.close)
    return running


def _asker(session: ClientSession, limits: Limits, signer: Signer, seen: Instruments) -> AskerPort:
    traces = seen.traces
    trace = traces.headers if traces else dict[str, str]
    asker = Asker(session, limits, signer, time.time, random.random, trace=trace)
    metered = MeteredAsker(asker, seen.meter)
    return TracedAsker(metered, traces) if traces else metered


def ari(node: NodeSettings, engine: str) -> AbstractAsyncContextManager[Ari]:
    """Open the way to one PBX."""
    url = f"{str(node.url).rstrip('/')}/ari"
    address = PbxAddress(node.name, url, node.user, node.password.get_secret_value())
    return open_ari(address, f"switchroom-{engine}", random.random, time.monotonic)


class Desks:
    """Builds nodes, their desks and what listens for them (`slots.Builder`)."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        running: Errands,
        directory: Directory,
        seen: Instruments,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._errands = running
        self._directory = directory
        self._seen = seen
        self._ways: dict[str, tuple[NodeSettings, Ari, Strain]] = {}

    def node(self, named: NodeSettings, way: Ari, into: Switch) -> Node:
        """Build a node, without desks yet; calls that come in there go to the switch."""
        strain = Strain(time.monotonic)
        self._ways[named.name] = named, way, strain
        return Node(named.name, way, {}, self._clock, into.arrive, lambda: strain.level_ms)

    def desk(self, node: Node, slot: int, lease: Lease, writer: Writer) -> Desk:
        """Build a slot's desk at a node."""
        named, way, strain = self._ways[node.name]
        meter, traces = self._seen.meter, self._seen.traces
        pbx: Pbx = TimedPbx(way, strain, meter, node.name, slot)
        leased = LeasedPbx(TracedPbx(pbx, traces) if traces else pbx, lease)
        place = Place(node.name, slot, leased, self._plan(named, slot), lease, meter)
        return Desk(place, self._clock, writer, self._errands)

    def hearing(
        self, node: Node, slot: int, replaced: Callable[[int], None]
    ) -> Coroutine[Any, Any, None]:
        """Listen to a slot's app until cancelled, or until another engine does."""
        grace_ms = self._settings.node_grace_s * 1000
        app = node.desks[slot].place.plan.app
        listener = Hearing(node, slot, grace_ms, replaced)
        return self._ways[node.name][1].events(app, listener).run()

    def _plan(self, named: NodeSettings, slot: int) -> Dialplan:
        return Dialplan(
            app=f"switchroom-{slot}",
            trunk=self._settings.trunk_endpoint,
            agent=self._settings.agent_endpoint,
            media_url=str(named.media_url).rstrip("/"),
            agents=self._directory,
        )


def rpc_url(settings: Settings) -> str:
    """Tell where other engines reach this one."""
    if settings.rpc_url is not None:
        return str(settings.rpc_url).rstrip("/")
    return f"http://{settings.rpc_host}:{settings.rpc_port}"


def _networks(allowed: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(each) for each in allowed)


def _now_ms() -> int:
    return int(time.time() * 1000)
