"""Targets of status callbacks: their text form and the parsed values."""

import re
from typing import Annotated

from msgspec import Meta, Struct

from wire.decoding import patterns
from wire.decoding.errors import BadInput
from wire.decoding.texts import host_and_port

AUTO_SET = "auto-set"
DEFAULT_GRPC_PORTS = {False: 80, True: 443}  # without and with TLS, as for http and https
StatusTarget = Annotated[str, Meta(pattern=patterns.STATUS_TARGET, max_length=300)]
AccountTarget = Annotated[str, Meta(pattern=patterns.ACCOUNT_TARGET, max_length=2048)]


class _Target(Struct, frozen=True, array_like=True, tag_field="t"):
    """Base of all targets; stored as tagged arrays."""


class AutoSetTarget(_Target, frozen=True, tag="auto"):
    """The target that the account has configured."""


class GrpcTarget(_Target, frozen=True, tag="grpc"):
    """A gRPC server; with `is_tls` its certificate is verified."""

    host: str
    port: int
    is_tls: bool = False


class ApiRequestTarget(_Target, frozen=True, tag="request"):
    """A stored API Request node."""

    id: str


class HttpsTarget(_Target, frozen=True, tag="https"):
    """A customer's HTTPS server; only an account's settings may name one."""

    url: str


CallTarget = AutoSetTarget | GrpcTarget | ApiRequestTarget  # named by a call
DeliveryTarget = GrpcTarget | ApiRequestTarget | HttpsTarget  # an actual destination
_REQUEST_ID = re.compile(patterns.HEX_ID)


def parse_call_target(text: str, path: str) -> CallTarget:
    """Parse a call's target that matches STATUS_TARGET; raises BadInput."""
    if text == AUTO_SET:
        return AutoSetTarget()
    target = parse_delivery_target(text, path)
    if isinstance(target, HttpsTarget):
        raise BadInput(path, f"expected {patterns.PATTERNS[patterns.STATUS_TARGET]}")
    return target


def parse_delivery_target(text: str, path: str) -> DeliveryTarget:
    """Parse a target that matches ACCOUNT_TARGET or STATUS_TARGET; raises BadInput."""
    if _REQUEST_ID.search(text):
        return ApiRequestTarget(text.lower())
    if text.startswith(("https://", "http://")):
        return HttpsTarget(text)
    return _grpc(text, path)


def _grpc(text: str, path: str) -> GrpcTarget:
    host, port = host_and_port(text, path)
    is_tls = text.startswith("grpcs://")
    return GrpcTarget(host, port or DEFAULT_GRPC_PORTS[is_tls], is_tls)


def format_target(target: DeliveryTarget | CallTarget) -> str:
    """Return the text form of a target."""
    match target:
        case AutoSetTarget():
            return AUTO_SET
        case ApiRequestTarget(id=node):
            return node
        case HttpsTarget(url=url):
            return url
        case GrpcTarget():
            host = f"[{target.host}]" if ":" in target.host else target.host
            return f"{'grpcs' if target.is_tls else 'grpc'}://{host}:{target.port}"
