"""Opens the connections of an engine to PBX nodes and to the archive, and names its own URLs."""

import asyncio
import random
import time
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from ssl import SSLContext

import aiohttp
import structlog

from base.tls import client_context, server_context
from engine.ami.client import open_ami
from engine.ari.client import AriClient, open_ari
from engine.ari.config import PbxAddress
from engine.config import Settings
from engine.recordings import Archive, RecordingArchiver, open_archive
from engine.rpc.access import RpcAccess, RpcClient
from engine.runtime.recording.recorder import Recorder
from engine.settings.nodes import NodeSettings
from engine.settings.rpc import RpcClientSettings

log = structlog.get_logger()


def ari(
    node: NodeSettings, engine: str, tls: SSLContext | None
) -> AbstractAsyncContextManager[AriClient]:
    """Open the ARI connections to a PBX node; `tls` verifies it if its URL is https."""
    url = f"{str(node.url).rstrip('/')}/ari"
    config = PbxAddress(node.name, url, node.user, node.password.get_secret_value(), tls)
    return open_ari(config, f"switchroom-{engine}", random.random, time.monotonic)


async def archive(settings: Settings) -> Archive | None:
    """Open the archive if anything can be recorded; nothing is sent to a bucket yet."""
    if not settings.can_record:
        return None
    return await asyncio.to_thread(open_archive, settings.recordings_url, settings.recordings_s3)


async def recorder(  # noqa: PLR0913, PLR0917 - collaborators are passed in
    settings: Settings,
    stack: AsyncExitStack,
    node: NodeSettings,
    ari: AriClient,
    archive: Archive | None,
    tls: SSLContext | None,
) -> Recorder | None:
    """Build the recorder of a node's calls; None without a password for its AMI."""
    password = node.ami_password or settings.ami_password
    if password is None or archive is None:
        log.warning("calls not recorded: no ami_password", node=node.name)
        return None
    url = str(node.url).rstrip("/")
    secret = password.get_secret_value()
    ami = await stack.enter_async_context(open_ami(url, node.ami_user, secret, tls))
    login = aiohttp.encode_basic_auth(node.user, node.password.get_secret_value())
    session = aiohttp.ClientSession(
        headers={"Authorization": login}, connector=aiohttp.TCPConnector(ssl=tls or True)
    )
    http = await stack.enter_async_context(session)
    archiver = RecordingArchiver(f"{url}/ari", http, archive, settings.media_dir)
    built = Recorder(ari, ami, archiver)
    stack.push_async_callback(built.close)
    return built


def media_url(settings: Settings, node: NodeSettings) -> str:
    """Return where a node fetches audio: one URL for all engines, or else this one's RPC port."""
    url = node.media_url or settings.media_url
    return str(url).rstrip("/") if url else rpc_url(settings)


def rpc_url(settings: Settings) -> str:
    """Return the URL at which other engines reach this one."""
    if settings.rpc_url is not None:
        return str(settings.rpc_url).rstrip("/")
    scheme = "http" if settings.rpc_tls_cert is None else "https"
    return f"{scheme}://{settings.rpc_host}:{settings.rpc_port}"


def rpc_access(settings: Settings) -> RpcAccess:
    """Return who may use the RPC, and its TLS; raises TlsFileError."""
    certificate = settings.rpc_tls_cert
    return RpcAccess(
        rpc_url(settings),
        settings.rpc_token.get_secret_value(),
        tuple(each.get_secret_value() for each in settings.further_rpc_tokens),
        server_context(certificate, settings.rpc_tls_key) if certificate else None,
        client_context(settings.tls_ca),
        clients=tuple(_rpc_client(*each) for each in settings.rpc_clients.items()),
    )


def _rpc_client(name: str, settings: RpcClientSettings) -> RpcClient:
    tokens = (settings.token, *settings.further_tokens)
    return RpcClient(name, tuple(each.get_secret_value() for each in tokens), settings.read_only)
