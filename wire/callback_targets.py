"""Where a call's status is told: what people type for it, and the values that are made of it."""

import re
from typing import Annotated
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from wire import patterns
from wire.errors import BadInput

AUTO_SET = "auto-set"
StatusTarget = Annotated[str, Meta(pattern=patterns.STATUS_TARGET, max_length=300)]
AccountTarget = Annotated[str, Meta(pattern=patterns.ACCOUNT_TARGET, max_length=2048)]


class _Target(Struct, frozen=True, array_like=True, tag_field="t"):
    """What all targets share: stored as tagged arrays."""


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
    """A customer's server, which only an account's configuration may name."""

    url: str


CallTarget = AutoSetTarget | GrpcTarget | ApiRequestTarget  # of a call
DeliveryTarget = GrpcTarget | ApiRequestTarget | HttpsTarget  # what can be delivered to
_REQUEST_ID = re.compile(patterns.HEX_ID)


def parse_call_target(text: str, path: str) -> CallTarget:
    """Make a call's target of what passed STATUS_TARGET; raises BadInput."""
    if text == AUTO_SET:
        return AutoSetTarget()
    place = parse_delivery_target(text, path)
    if isinstance(place, HttpsTarget):
        raise BadInput(path, f"expected {patterns.PATTERNS[patterns.STATUS_TARGET]}")
    return place


def parse_delivery_target(text: str, path: str) -> DeliveryTarget:
    """Make a place of what passed ACCOUNT_TARGET or STATUS_TARGET; raises BadInput."""
    if _REQUEST_ID.search(text):
        return ApiRequestTarget(text.lower())
    if text.startswith(("https://", "http://")):
        return HttpsTarget(text)
    return _grpc(text, path)


def _grpc(text: str, path: str) -> GrpcTarget:
    parts = urlsplit(text)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not port:
        raise BadInput(path, "expected a host and a port of 1 to 65535")
    return GrpcTarget(host, port, parts.scheme == "grpcs")


def format_target(place: DeliveryTarget | CallTarget) -> str:
    """Give a target as people write it."""
    match place:
        case AutoSetTarget():
            return AUTO_SET
        case ApiRequestTarget(id=node):
            return node
        case HttpsTarget(url=url):
            return url
        case GrpcTarget():
            host = f"[{place.host}]" if ":" in place.host else place.host
            return f"{'grpcs' if place.is_tls else 'grpc'}://{host}:{place.port}"
