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


class AutoSet(_Target, frozen=True, tag="auto"):
    """The target that the account has configured."""


class Grpc(_Target, frozen=True, tag="grpc"):
    """A gRPC server; with `is_tls` its certificate is verified."""

    host: str
    port: int
    is_tls: bool = False


class ApiRequest(_Target, frozen=True, tag="request"):
    """A stored API Request node."""

    id: str


class Https(_Target, frozen=True, tag="https"):
    """A customer's server, which only an account's configuration may name."""

    url: str


Target = AutoSet | Grpc | ApiRequest  # of a call
Place = Grpc | ApiRequest | Https  # what can be delivered to
_REQUEST_ID = re.compile(patterns.HEX_ID)


def parse_target(text: str, path: str) -> Target:
    """Make a call's target of what passed STATUS_TARGET; raises BadInput."""
    if text == AUTO_SET:
        return AutoSet()
    place = parse_place(text, path)
    if isinstance(place, Https):
        raise BadInput(path, f"expected {patterns.PATTERNS[patterns.STATUS_TARGET]}")
    return place


def parse_place(text: str, path: str) -> Place:
    """Make a place of what passed ACCOUNT_TARGET or STATUS_TARGET; raises BadInput."""
    if _REQUEST_ID.search(text):
        return ApiRequest(text.lower())
    if text.startswith(("https://", "http://")):
        return Https(text)
    return _grpc(text, path)


def _grpc(text: str, path: str) -> Grpc:
    parts = urlsplit(text)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not port:
        raise BadInput(path, "expected a host and a port of 1 to 65535")
    return Grpc(host, port, parts.scheme == "grpcs")


def written(place: Place | Target) -> str:
    """Give a target as people write it."""
    match place:
        case AutoSet():
            return AUTO_SET
        case ApiRequest(id=node):
            return node
        case Https(url=url):
            return url
        case Grpc():
            host = f"[{place.host}]" if ":" in place.host else place.host
            return f"{'grpcs' if place.is_tls else 'grpc'}://{host}:{place.port}"
