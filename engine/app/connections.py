"""Opens the connections of an engine to PBX nodes and to the archive, and names its own URLs."""

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
from engine.runtime.recording.recorder import Recorder

log = structlog.get_logger()


def ari(node: NodeSettings, engine: str) -> AbstractAsyncContextManager[AriClient]:
    """Open the ARI connections to a PBX node."""
    url = f"{str(node.url).rstrip('/')}/ari"
    config = PbxAddress(node.name, url, node.user, node.password.get_secret_value())
    return open_ari(config, f"switchroom-{engine}", random.random, time.monotonic)


async def archive(settings: Settings) -> Archive | None:
    """Open the archive if anything can be recorded; nothing is sent to a bucket yet."""
    if not settings.can_record:
        return None
    return await asyncio.to_thread(open_archive, settings.recordings_url, settings.recordings_s3)


async def recorder(
    settings: Settings,
    stack: AsyncExitStack,
    node: NodeSettings,
    ari: AriClient,
    archive: Archive | None,
) -> Recorder | None:
    """Build the recorder of a node's calls; None without a password for its AMI."""
    password = node.ami_password or settings.ami_password
    if password is None or archive is None:
        log.warning("calls not recorded: no ami_password", node=node.name)
        return None
    url = str(node.url).rstrip("/")
    ami = await stack.enter_async_context(open_ami(url, node.ami_user, password.get_secret_value()))
    login = aiohttp.encode_basic_auth(node.user, node.password.get_secret_value())
    http = await stack.enter_async_context(aiohttp.ClientSession(headers={"Authorization": login}))
    archiver = RecordingArchiver(f"{url}/ari", http, archive, settings.media_dir)
    built = Recorder(ari, ami, archiver)
    stack.push_async_callback(built.close)
    return built


def media_url(settings: Settings, node: NodeSettings) -> str:
    """Return where a node fetches this engine's audio: by default from the RPC's port."""
    return str(node.media_url).rstrip("/") if node.media_url else rpc_url(settings)


def rpc_url(settings: Settings) -> str:
    """Return the URL at which other engines reach this one."""
    if settings.rpc_url is not None:
        return str(settings.rpc_url).rstrip("/")
    return f"http://{settings.rpc_host}:{settings.rpc_port}"
