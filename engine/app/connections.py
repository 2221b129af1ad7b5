"""The ways between an engine, its PBX nodes and other engines, each built from the settings."""

import asyncio
import random
import time
from contextlib import AbstractAsyncContextManager, AsyncExitStack

import aiohttp
import structlog

from engine.ami.client import open_ami
from engine.ari.client import AriClient, open_ari
from engine.ari.config import PbxAddress
from engine.config import NodeSettings, Settings
from engine.recordings.archive import Archive, open_archive
from engine.recordings.archiver import RecordingArchiver
from engine.runtime.agents.directory import trunk_name
from engine.runtime.base.clock import Clock
from engine.runtime.nodes.health import NodeHealth
from engine.runtime.recording.recorder import Recorder

log = structlog.get_logger()


def ari(node: NodeSettings, engine: str) -> AbstractAsyncContextManager[AriClient]:
    """Open the way to one PBX."""
    url = f"{str(node.url).rstrip('/')}/ari"
    address = PbxAddress(node.name, url, node.user, node.password.get_secret_value())
    return open_ari(address, f"switchroom-{engine}", random.random, time.monotonic)


async def archive(settings: Settings) -> Archive | None:
    """Open the archive, if anything can be recorded; a bucket is not asked for anything yet."""
    if not settings.can_record:
        return None
    return await asyncio.to_thread(open_archive, settings.recordings_url, settings.recordings_s3)


async def recorder(
    settings: Settings,
    house: AsyncExitStack,
    node: NodeSettings,
    way: AriClient,
    kept: Archive | None,
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
    working = Recorder(way, ami, RecordingArchiver(f"{url}/ari", http, kept, settings.media_dir))
    house.push_async_callback(working.close)
    return working


def health(settings: Settings, clock: Clock) -> NodeHealth:
    """Build what keeps how a node is."""
    return NodeHealth(clock, trunk_name(settings.trunk_endpoint))


def media_url(settings: Settings, node: NodeSettings) -> str:
    """Tell where a node fetches this engine's audio: the RPC's port serves it, too."""
    return str(node.media_url).rstrip("/") if node.media_url else rpc_url(settings)


def rpc_url(settings: Settings) -> str:
    """Tell where other engines reach this one."""
    if settings.rpc_url is not None:
        return str(settings.rpc_url).rstrip("/")
    return f"http://{settings.rpc_host}:{settings.rpc_port}"
