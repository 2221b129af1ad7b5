"""Checks of what travels between hosts in clear text."""

import ipaddress
from collections.abc import Iterator, Sequence
from ssl import SSLContext

from base.tls import client_context, server_context
from cli.doctor.result import Finding, ok, warning
from engine.config import Settings
from engine.settings.nodes import NodeSettings
from engine.store.redis.address import parse_address

_SUBJECT = "transport"
_GATEWAY_TLS = "SWITCHROOM_STREAMS_TLS_CERT of the gateway, and https:// in `stream_gateways`"


def check_files(settings: Settings) -> None:
    """Load the certificates of the settings; raises TlsFileError."""
    if settings.tls_ca is not None:
        client_context(settings.tls_ca)
    if settings.rpc_tls_cert is not None:
        server_context(settings.rpc_tls_cert, settings.rpc_tls_key)


def nodes_context(settings: Settings, nodes: Sequence[NodeSettings]) -> SSLContext | None:
    """Return what verifies the nodes and their gateways; None if none has TLS.

    Loading the system's CAs takes 20 ms, in which an engine that runs the checks does nothing else.
    """
    urls = [url for node in nodes for url in (node.url, *node.stream_gateways)]
    is_needed = any(url.scheme == "https" for url in urls) or any(each.ami_tls for each in nodes)
    return client_context(settings.tls_ca) if is_needed else None


def check_transport(settings: Settings, nodes: Sequence[NodeSettings]) -> Iterator[Finding]:
    """Name each connection to another host that is plain."""
    plain = [*_plain(settings, nodes)]
    if not plain:
        yield ok(_SUBJECT, "nothing leaves this host in clear text")
    for what, advice in plain:
        yield warning(
            "plain_connection", _SUBJECT, f"{what}: plain, readable on the network", advice
        )


def _plain(settings: Settings, nodes: Sequence[NodeSettings]) -> Iterator[tuple[str, str]]:
    store = parse_address(settings.redis_url)
    if not store.is_encrypted:
        yield f"the store at {store.redacted}", "SWITCHROOM_REDIS_URL=rediss://…?ssl_ca_certs=…"
    address = settings.rpc_url.host if settings.rpc_url else settings.rpc_host
    if settings.rpc_tls_cert is None and not _is_local(address):
        yield "this engine's RPC and audio", "set SWITCHROOM_RPC_TLS_CERT"
    for node in nodes:
        for gateway in node.stream_gateways:
            if gateway.scheme != "https" and not _is_local(gateway.host):
                yield f"the stream gateway {gateway} of {node.name}", _GATEWAY_TLS
        if _is_local(node.url.host):
            continue
        if node.url.scheme != "https":
            yield f"ARI of {node.name}", "an https:// url in SWITCHROOM_NODES, or NODE_TLS"
        if not node.ami_tls and (node.ami_password or settings.ami_password):
            yield f"AMI of {node.name}", "ami_tls and its port in SWITCHROOM_NODES, or NODE_TLS"


def _is_local(host: str | None) -> bool:
    try:
        return ipaddress.ip_address((host or "").strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
