"""A request to the REST API, and what sends it."""

import json
import uuid
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import UNSET, Struct

from switchroom_sdk.chain import resolved
from switchroom_sdk.errors import InvalidField

T = TypeVar("T")
_NO_IDS = frozenset({"", ".", ".."})


class Request(Struct, frozen=True):
    """A request; `path` are its segments, values that are UNSET are not sent."""

    method: str
    path: tuple[str | int, ...]
    query: Mapping[str, Any] = {}
    body: Mapping[str, Any] | None = None
    is_idempotent: bool = False
    idempotency_key: str | None = None
    if_match: str | None = None
    if_none_match: str | None = None

    @property
    def target(self) -> str:
        """The path, escaped; raises InvalidField for an id that would name another path."""
        for each in self.path:
            if each in _NO_IDS:
                raise InvalidField("path", f"{each!r} is no id")
        return "/" + "/".join(quote(str(each), safe="") for each in self.path)

    def parameters(self) -> dict[str, str]:
        """Return the query."""
        return {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in self.query.items()
            if value is not UNSET and value is not None
        }

    def content(self, public_url: str | None) -> bytes | None:
        """Return the body as JSON; addresses that begin with `/` are at your own server."""
        if self.body is None:
            return None
        given = {name: value for name, value in self.body.items() if value is not UNSET}
        kind = "action" if "type" in given else "body"  # a flow may be a tree
        return msgspec.json.encode(resolved(given, public_url, kind))

    def headers(self) -> dict[str, str]:
        """Return the headers; a POST has a key, by which a repetition is known."""
        found = {"Content-Type": "application/json"} if self.body is not None else {}
        if self.method == "POST":
            found["Idempotency-Key"] = self.idempotency_key or uuid.uuid4().hex
        if self.if_match is not None:
            found["If-Match"] = _quoted(self.if_match)
        if self.if_none_match is not None:
            found["If-None-Match"] = _quoted(self.if_none_match)
        return found

    @property
    def is_repeatable(self) -> bool:
        """Whether sending it twice has the effect of sending it once.

        That of a POST depends on the operation: not all of them read the key.
        """
        return self.is_idempotent or self.method in {"GET", "PUT", "DELETE"}


class Sender(Protocol):
    """Sends requests."""

    def send(self, request: Request, kind: type[T] | None) -> T:
        """Send a request and return the response; raises ApiError, ConnectionFailed."""
        ...


class AsyncSender(Protocol):
    """Sends requests with asyncio."""

    async def send(self, request: Request, kind: type[T] | None) -> T:
        """Send a request and return the response; raises ApiError, ConnectionFailed."""
        ...


def _quoted(version: str) -> str:
    """Return an ETag; a version without quotes gets them."""
    return version if version == "*" or version.startswith('"') else f'"{version}"'
