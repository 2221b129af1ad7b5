"""Checks of what travels between hosts in clear text, and of the secrets that protect it."""

import ipaddress
from collections.abc import Iterator, Sequence

from pydantic import SecretStr

from engine.cli.doctor.result import Finding, failure, ok, warning
from engine.common.tls import client_context, server_context
from engine.config import NodeSettings, Settings
from engine.store.redis.address import parse_address

MIN_SECRET_CHARS = 16
_SUBJECT = "transport"


def check_files(settings: Settings) -> None:
    """Load the certificates; raises TlsFileError."""
    client_context(settings.tls_ca)
    if settings.rpc_tls_cert is not None:
        server_context(settings.rpc_tls_cert, settings.rpc_tls_key)


def check_transport(settings: Settings, nodes: Sequence[NodeSettings]) -> Iterator[Finding]:
    """Name each connection to another host that is plain, and each secret that is short."""
    plain = [*_plain(settings, nodes)]
    if not plain:
        yield ok(_SUBJECT, "nothing leaves this host in clear text")
    for what, advice in plain:
        yield warning(_SUBJECT, f"{what}: plain, readable on the network", advice)
    for name, secret in _secrets(settings, nodes):
        if len(secret.get_secret_value()) < MIN_SECRET_CHARS:
            text = f"{name} has less than {MIN_SECRET_CHARS} characters"
            yield failure(_SUBJECT, text, "generate one: openssl rand -hex 32")


def _plain(settings: Settings, nodes: Sequence[NodeSettings]) -> Iterator[tuple[str, str]]:
    store = parse_address(settings.redis_url)
    if not store.is_encrypted:
        yield f"the store at {store.redacted}", "SWITCHROOM_REDIS_URL=rediss://…?ssl_ca_certs=…"
    address = settings.rpc_url.host if settings.rpc_url else settings.rpc_host
    if settings.rpc_tls_cert is None and not _is_local(address):
        yield "this engine's RPC and audio", "set SWITCHROOM_RPC_TLS_CERT"
    for node in nodes:
        if _is_local(node.url.host):
            continue
        if node.url.scheme != "https":
            yield f"ARI of {node.name}", "an https:// url in SWITCHROOM_NODES, or NODE_TLS"
        if not node.ami_tls and (node.ami_password or settings.ami_password):
            yield f"AMI of {node.name}", "ami_tls and its port in SWITCHROOM_NODES, or NODE_TLS"


def _secrets(settings: Settings, nodes: Sequence[NodeSettings]) -> Iterator[tuple[str, SecretStr]]:
    yield "SWITCHROOM_RPC_TOKEN", settings.rpc_token
    for number, token in enumerate(settings.further_rpc_tokens, 1):
        yield f"token {number} of SWITCHROOM_FURTHER_RPC_TOKENS", token
    for node in nodes:
        yield f"the ARI password of {node.name}", node.password
        if password := node.ami_password or settings.ami_password:
            yield f"the AMI password of {node.name}", password


def _is_local(host: str | None) -> bool:
    try:
        return ipaddress.ip_address((host or "").strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
