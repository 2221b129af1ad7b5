"""The parts of an engine, each built from the settings; `app` puts them together."""

import asyncio
import ipaddress
import random
import time
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from typing import Any

import aiohttp
import structlog
from msgspec import Struct

from engine.ami.client import open_ami
from engine.ari.client import Ari, open_ari
from engine.ari.pbx import PbxAddress
from engine.config import NodeSettings, Settings
from engine.media.clip import Limits as MediaLimits
from engine.media.espeak import find_espeak
from engine.media.hibari import Hibari
from engine.media.library import Library
from engine.media.opening import opened
from engine.media.speakers import Speaker
from engine.recordings.archive import Archive, open_archive
from engine.recordings.cabinet import Cabinet
from engine.runtime.agents import Directory
from engine.runtime.clock import Clock
from engine.runtime.desk import Desk, Place
from engine.runtime.errands import Errands
from engine.runtime.hearing import Hearing
from engine.runtime.lease import Lease, LeasedPbx
from engine.runtime.node import Node
from engine.runtime.placement import Gate
from engine.runtime.presence import APP as PRESENCE_APP
from engine.runtime.presence import UNUSED_EVENTS as PRESENCE_UNUSED
from engine.runtime.presence import NodePresence
from engine.runtime.recorder import Recorder
from engine.runtime.requests import Dialplan
from engine.runtime.roster import Roster
from engine.runtime.strain import Strained
from engine.runtime.switch import Rules, Switch
from engine.store.store import Store
from engine.store.writer import Writer
from engine.webhooks.addresses import guarded_session
from engine.webhooks.ask import Asker
from engine.webhooks.sign import Signer
from wire.tree import Limits

log = structlog.get_logger()
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def roster(settings: Settings, house: AsyncExitStack, store: Store, clock: Clock) -> Roster:
    """Build the directory of agents and the switch, without nodes yet."""
    directory = Directory(store, clock.now_ms, settings.agent_endpoint, settings.trunk_endpoint)
    house.push_async_callback(directory.close)
    told_as = (settings.recordings_public_url or settings.recordings_url).rstrip("/") + "/"
    longest_ms = settings.longest_call_s * 1000
    rules = Rules(settings.slots, longest_ms, settings.caller_id, told_as)
    gate = Gate(clock, settings.max_calls_per_s, settings.max_calls)
    return Roster(directory, Switch(store, clock, gate, rules, directory=directory))


async def library(settings: Settings, house: AsyncExitStack) -> Library:
    """Open the audio library, with the voices that this machine has."""
    limits = MediaLimits()
    espeak = await find_espeak()
    speakers: list[Speaker] = [Hibari(limits), *([espeak] if espeak else [])]
    session = await house.enter_async_context(guarded_session(_networks(settings.media_allow)))
    return await house.enter_async_context(
        opened(settings.media_dir, session, speakers, _now_ms, limits)
    )


async def errands(
    settings: Settings, house: AsyncExitStack, audio: Library, store: Store, limits: Limits
) -> Errands:
    """Build what runs calls' errands; its session asks customers' servers and nobody else."""
    secret = settings.webhook_secret
    signer = Signer(*([secret.get_secret_value()] if secret else []))
    # No limit of ours: each question belongs to a live call, and those are limited.
    session = await house.enter_async_context(
        guarded_session(_networks(settings.webhook_allow), limit=0, limit_per_host=0)
    )
    asker = Asker(session, limits, signer, time.time, random.random)
    running = Errands(audio, asker, store, limits)
    house.push_async_callback(running.close)
    return running


def ari(node: NodeSettings, engine: str) -> AbstractAsyncContextManager[Ari]:
    """Open the way to one PBX."""
    url = f"{str(node.url).rstrip('/')}/ari"
    address = PbxAddress(node.name, url, node.user, node.password.get_secret_value())
    return open_ari(address, f"switchroom-{engine}", random.random, time.monotonic)


async def archive(settings: Settings) -> Archive | None:
    """Open the archive, if anything can be recorded; a bucket is not asked for anything yet."""
    if not any(node.ami_password or settings.ami_password for node in settings.nodes):
        return None
    return await asyncio.to_thread(open_archive, settings.recordings_url, settings.recordings_s3)


async def recorder(
    settings: Settings, house: AsyncExitStack, node: NodeSettings, way: Ari, kept: Archive | None
) -> Recorder | None:
    """Build what records the calls of one PBX; None when its manager interface is not known."""
    password = node.ami_password or settings.ami_password
    if password is None or kept is None:
        log.warning("calls are not recorded: no ami_password", node=node.name)
        return None
    url = str(node.url).rstrip("/")
    ami = await house.enter_async_context(open_ami(url, node.ami_user, password.get_secret_value()))
    login = aiohttp.encode_basic_auth(node.user, node.password.get_secret_value())
    http = await house.enter_async_context(aiohttp.ClientSession(headers={"Authorization": login}))
    working = Recorder(way, ami, Cabinet(f"{url}/ari", http, kept, settings.media_dir))
    house.push_async_callback(working.close)
    return working


class _Way(Struct, frozen=True):
    """What reaches a node."""

    named: NodeSettings
    ari: Ari
    tapes: Recorder | None


class Desks:
    """Builds nodes, their desks and what listens for them (`slots.Builder`)."""

    def __init__(
        self, settings: Settings, clock: Clock, running: Errands, everyone: Roster
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._errands = running
        self._roster = everyone
        self._ways: dict[str, _Way] = {}

    def node(self, named: NodeSettings, way: Ari, tapes: Recorder | None) -> Node:
        """Build a node, without desks yet; calls that come in there go to the switch."""
        self._ways[named.name] = _Way(named, way, tapes)
        pbx = Strained(way, self._clock)
        return Node(
            named.name, pbx, {}, self._clock, self._roster.switch.arrive, partial(_level_ms, pbx)
        )

    def desk(self, node: Node, slot: int, lease: Lease, writer: Writer) -> Desk:
        """Build a slot's desk at a node."""
        way = self._ways[node.name]
        plan = self._plan(way.named, slot)
        place = Place(node.name, slot, LeasedPbx(node.pbx, lease), plan, way.tapes, lease)
        return Desk(place, self._clock, writer, self._errands)

    def hearing(
        self, node: Node, slot: int, replaced: Callable[[int], None]
    ) -> Coroutine[Any, Any, None]:
        """Listen to a slot's app until cancelled, or until another engine does."""
        grace_ms = self._settings.node_grace_s * 1000
        place, ari = node.desks[slot].place, self._ways[node.name].ari
        listener = Hearing(node, slot, grace_ms, replaced)
        return ari.events(place.plan.app, listener, may=lambda: place.lease.holds).run()

    async def watching(self, node: Node, slot: int) -> None:
        """Know which agents are registered at a node, until cancelled, as who has a slot."""
        ari, presences = self._ways[node.name].ari, self._roster.presences
        lease = node.desks[slot].place.lease
        presence = NodePresence(node.name, ari, self._roster.directory.is_trunk)
        presences[node.name] = presence
        try:
            await ari.events(PRESENCE_APP, presence, PRESENCE_UNUSED, lambda: lease.holds).run()
        finally:
            if presences.get(node.name) is presence:
                del presences[node.name]
            await presence.close()

    def _plan(self, named: NodeSettings, slot: int) -> Dialplan:
        return Dialplan(
            app=f"switchroom-{slot}",
            trunk=self._settings.trunk_endpoint,
            agent=self._settings.agent_endpoint,
            media_url=str(named.media_url).rstrip("/"),
            agents=self._roster.directory,
        )


def rpc_url(settings: Settings) -> str:
    """Tell where other engines reach this one."""
    if settings.rpc_url is not None:
        return str(settings.rpc_url).rstrip("/")
    return f"http://{settings.rpc_host}:{settings.rpc_port}"


def _level_ms(pbx: Strained) -> float:
    return pbx.level_ms


def _networks(allowed: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(each) for each in allowed)


def _now_ms() -> int:
    return int(time.time() * 1000)
