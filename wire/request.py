"""API requests: stored HTTP requests with templates, sent by flows and status callbacks."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, field

from wire.base import Shape
from wire.decoding import patterns
from wire.flow import Variable

MAX_ANSWERS = 32
_ORIGIN = re.compile(r"([a-z]+)://([^/?#]*)")
_DEFAULT_PORTS = {"https": ":443", "http": ":80"}
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Header = Annotated[str, Meta(pattern=patterns.HEADER)]
HeaderText = Annotated[str, Meta(max_length=4096, pattern=patterns.HEADER_TEXT)]
JsonPointer = Annotated[str, Meta(max_length=256, pattern=patterns.POINTER)]
Secret = Annotated[str, Meta(min_length=1, max_length=4096)]


class _Request(Shape, frozen=True):
    """The fields of a request that are also shown.

    Texts may contain templates; in the URL, only after the host. The body is `json` or `text`.
    `answers` names values by their JSON pointer in the response (RFC 6901).
    """

    url: Annotated[str, Meta(min_length=8, max_length=2048)]
    method: Method = "GET"
    name: Annotated[str, Meta(max_length=120)] = ""
    headers: Annotated[dict[Header, HeaderText], Meta(max_length=32)] = field(default_factory=dict)
    json: Any = None
    text: Annotated[str, Meta(max_length=65_536)] | None = None
    timeout_ms: Annotated[int, Meta(ge=100, le=15_000)] = 5_000
    answers: Annotated[dict[Variable, JsonPointer], Meta(max_length=MAX_ANSWERS)] = field(
        default_factory=dict
    )


class ApiRequest(_Request, frozen=True):
    """An API request as stored; its secrets are `{{secrets.name}}` and are never shown.

    An absent secret stays unchanged while scheme, host and port of the URL do; null removes it.
    """

    secrets: Annotated[dict[Variable, Secret | None], Meta(max_length=32)] = field(
        default_factory=dict
    )


class ApiRequestView(_Request, frozen=True):
    """An API request as shown, with the names of its secrets."""

    request_id: str = ""
    secrets: tuple[str, ...] = ()


def kept_secrets(stored: ApiRequest | None, url: str) -> Mapping[str, Secret | None]:
    """Return the stored secrets that a request with this address keeps: another host gets none."""
    return stored.secrets if stored is not None and is_same_origin(stored.url, url) else {}


def is_same_origin(one: str, other: str) -> bool:
    """Return whether two addresses have the same scheme, host and port."""
    return _origin(one) == _origin(other)


def _origin(url: str) -> tuple[str, str]:
    # Of the text, not of a parsed address: readers of odd addresses may find different hosts.
    found = _ORIGIN.match(url.lower())
    if found is None:
        return "", url
    scheme, host = found.groups()
    return scheme, host.removesuffix(_DEFAULT_PORTS.get(scheme, ""))
