"""The doctor's checks with the settings of an engine: for the command, and for an engine itself."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from ssl import SSLContext

from base.tls import TlsFileError
from cli.doctor.ami import check_ami
from cli.doctor.gateways import check_gateways
from cli.doctor.machine import check_archive, check_engine, check_espeak, check_media_dir
from cli.doctor.pbx import AriNode, check_node
from cli.doctor.result import Finding, failure, in_lab, ok, warning
from cli.doctor.store import check_store
from cli.doctor.transport import check_files, check_transport, nodes_context
from cli.http_client import HttpClient, tls_context
from cli.options.connection import DOTENV, is_lab, url_of
from engine.app.dns_discovery import Discovery
from engine.config import Settings
from engine.settings.nodes import NodeSettings

EngineAddress = tuple[str, str, Path | None]  # its URL, token and CA file
MAX_CONNECTIONS, REQUEST_WEBSOCKETS = 64, 4  # to a node


async def run_checks(settings: Settings, address: EngineAddress) -> list[Finding]:
    """Run all checks concurrently; `address` is that of the engine to check."""
    try:
        check_files(settings)
    except TlsFileError as error:
        return [
            failure(
                "unreadable_certificate", "tls", str(error), "it must be a readable file in PEM"
            )
        ]
    nodes = await _nodes(settings)
    tls = nodes_context(settings, nodes)
    url, token, ca = address
    client = HttpClient(url, f"Bearer {token}", tls_context(url, ca), "engine")
    found = await asyncio.gather(
        check_store(settings.redis_url),
        *(_node(settings, node, tls) for node in nodes),
        check_engine(client, settings.slots),
    )
    here = [
        *check_transport(settings, nodes),
        check_media_dir(settings.media_dir),
        check_espeak(os.environ.get("PATH", "")),
    ]
    if settings.can_record:
        here.append(await check_archive(settings.recordings_url, settings.recordings_s3))
    all_found = [each for findings in (*found, here) for each in findings]
    return [in_lab(each) for each in all_found] if is_lab(os.environ, DOTENV) else all_found


def own_engine(settings: Settings) -> EngineAddress:
    """Return where the engine of these settings listens."""
    scheme = "https" if settings.rpc_tls_cert else "http"
    url = url_of(scheme, settings.rpc_host, settings.rpc_port)
    return url, settings.rpc_token.get_secret_value(), settings.tls_ca


async def _nodes(settings: Settings) -> list[NodeSettings]:
    """List the nodes of the settings and of DNS discovery."""
    nodes = {node.name: node for node in settings.nodes}

    async def found(by_dns: Mapping[str, NodeSettings]) -> None:
        nodes.update(by_dns)

    if settings.node_dns:
        await Discovery(settings, found).poll()
    return [*nodes.values()]


def check_settings(settings: Settings) -> list[Finding]:
    """Name what is missing, and what should not be."""
    if not settings.nodes and not settings.node_dns:
        return [failure("no_node", "settings", "no PBX nodes", "set SWITCHROOM_NODES")]
    names = ", ".join(filter(None, (*(node.name for node in settings.nodes), settings.node_dns)))
    found = [ok("settings", f"complete: {settings.slots} slots per node, nodes {names}")]
    if settings.signing_key is None:
        text = "accounts get other signing secrets when Redis loses its data"
        advice = "set SWITCHROOM_SIGNING_KEY to 64 random hexadecimal digits"
        found.append(warning("no_signing_key", "settings", text, advice))
    if settings.store_key is None:
        text = "customers' secrets are in clear text in the store"
        advice = "set SWITCHROOM_STORE_KEY to 64 random hexadecimal digits (security.md)"
        found.append(warning("no_store_key", "settings", text, advice))
    return found


async def _node(settings: Settings, given: NodeSettings, tls: SSLContext | None) -> list[Finding]:
    password = given.password.get_secret_value()
    node = AriNode(
        given.name,
        str(given.url).rstrip("/"),
        given.user,
        password,
        tls,
        has_gateways=bool(given.stream_gateways),
        sip_host=given.sip_host or "",
    )
    sessions = max(MAX_CONNECTIONS, settings.slots + REQUEST_WEBSOCKETS)
    findings = await check_node(node, f"switchroom-doctor-{os.getpid()}-{given.name}", sessions)
    return [
        *findings,
        *await check_ami(settings, given, tls),
        *await check_gateways(settings, given, tls),
    ]
