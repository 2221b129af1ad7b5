"""ARI requests and replies: plain values, independent of the transport."""

import asyncio
import re
from collections.abc import Callable, Iterable
from typing import Any, Protocol
from urllib.parse import quote

from msgspec import Struct

_is_plain = re.compile(r"[A-Za-z0-9_.~-]*").fullmatch
_is_plain_value = re.compile(r"[A-Za-z0-9_.~:/@,-]*").fullmatch  # RFC 3986, section 3.4


class Request(Struct, frozen=True, gc=False):
    """One ARI operation; `path` has no leading slash and its segments are already quoted."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: dict[str, Any] | None = None

    @property
    def uri(self) -> str:
        """The path and the encoded query, relative to `/ari/`."""
        if not self.query:
            return self.path
        return f"{self.path}?{'&'.join(f'{name}={_value(value)}' for name, value in self.query)}"


class Reply(Struct, frozen=True, gc=False):
    """The PBX's reply; status 0: none arrived, and the request may or may not have run."""

    status: int
    body: bytes = b""

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300  # noqa: PLR2004 - the HTTP success range


NOT_FOUND = 404
LOST = Reply(0)
OnReply = Callable[[Reply], None]


class Transport(Protocol):
    """Sends requests; `on_reply` is called exactly once, on the loop, never inside `send`."""

    def send(self, request: Request, on_reply: OnReply) -> None:
        """Send a request without waiting."""


async def ask(transport: Transport, request: Request) -> Reply:
    """Send and wait for the reply: for requests that no call waits for."""
    reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

    def settle(received: Reply) -> None:
        if not reply.done():
            reply.set_result(received)

    transport.send(request, settle)
    return await reply


def segment(value: str) -> str:
    """Quote one segment of a path."""
    return value if _is_plain(value) else quote(value, safe="")


def _value(value: str) -> str:
    # Most values are plain ids and addresses: checking is ten times cheaper than quoting.
    return value if _is_plain_value(value) else quote(value, safe="")


def several(values: Iterable[str]) -> str:
    """Join values for a query; raises ValueError on a comma, which would split a value."""
    items = list(values)
    if any("," in item for item in items):
        raise ValueError(f"a value with a comma cannot be sent in a list: {items}")
    return ",".join(items)


def given(*pairs: tuple[str, str | int | bool | None]) -> tuple[tuple[str, str], ...]:
    """Return the parameters that are set, as text."""
    return tuple((name, _text(value)) for name, value in pairs if value is not None)


def _text(value: str | int | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)
