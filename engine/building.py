"""The parts of an engine, each built from the settings; `app` puts them together."""

import asyncio
import ipaddress
import random
import time
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial

import aiohttp
import structlog

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
from engine.runtime.node import Node
from engine.runtime.placement import Gate
from engine.runtime.recorder import Recorder
from engine.runtime.requests import Dialplan
from engine.runtime.roster import Roster
from engine.runtime.strain import Strained
from engine.runtime.switch import Rules, Switch
from engine.runtime.takeover import Owned
from engine.store.store import Store
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


class Nodes:
    """Builds nodes with their desks, all on the same clock, slots and errands."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        owned: dict[int, Owned],
        running: Errands,
        directory: Directory,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._owned = owned
        self._errands = running
        self._directory = directory

    def node(self, named: NodeSettings, way: Ari, into: Switch, tapes: Recorder | None) -> Node:
        """Build a node; calls that come in there go to the switch."""
        pbx = Strained(way, self._clock)
        desks = {
            slot: Desk(
                self._place(named, slot, pbx, tapes), self._clock, each.writer, self._errands
            )
            for slot, each in self._owned.items()
        }
        return Node(named.name, pbx, desks, self._clock, into.arrive, partial(_level_ms, pbx))

    def _place(
        self, named: NodeSettings, slot: int, pbx: Strained, tapes: Recorder | None
    ) -> Place:
        settings = self._settings
        media_url = str(named.media_url).rstrip("/")
        plan = Dialplan(
            app=f"switchroom-{slot}",
            trunk=settings.trunk_endpoint,
            agent=settings.agent_endpoint,
            media_url=media_url,
            agents=self._directory,
        )
        return Place(named.name, slot, pbx, plan, tapes)


def _level_ms(pbx: Strained) -> float:
    return pbx.level_ms


def _networks(allowed: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(each) for each in allowed)


def _now_ms() -> int:
    return int(time.time() * 1000)
