"""Reads responses of customers' servers: limited in size, an action or nothing."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Protocol

import msgspec
from aiohttp import ClientError

from engine.webhooks.errors import AttemptFailed
from engine.webhooks.log.exchange import MAX_RESPONSE_BYTES
from wire.decoding.errors import BadInput
from wire.decoding.json_errors import repaired
from wire.tree import Limits, parse_action
from wire.verbs import Action


class ResponseBody(Protocol):
    def iter_any(self) -> AsyncIterator[bytes]:
        """Yield the body piece by piece."""


class HttpResponse(Protocol):
    """What is read of a response: aiohttp's, or a listener's."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def content(self) -> ResponseBody: ...


_OK = range(200, 300)
_REDIRECT = range(300, 400)
_TRANSIENT = frozenset({429, 502, 503, 504})
_ERROR_BODY_S = 0.2  # how long an error waits for its body, which only the log needs


async def read_action(response: HttpResponse, received: bytearray, limits: Limits) -> Action | None:
    """Read an action; None: there is nothing to add. Raises AttemptFailed, ClientError."""
    await read_body(response, received, limits.size_bytes)
    body = repaired(bytes(received))
    return _parsed(body, limits) if body.strip() else None


async def read_body(response: HttpResponse, received: bytearray, size_bytes: int) -> None:
    """Read the body of a successful response. Raises AttemptFailed, ClientError."""
    status = response.status
    if status not in _OK:
        await read_error_body(response, received)
    if status in _REDIRECT:
        raise AttemptFailed("redirect", f"answered {status}; redirects are not followed")
    if status not in _OK:
        raise AttemptFailed(
            f"status_{status}",
            f"answered {status}",
            transient=status in _TRANSIENT,
            retry_after=response.headers.get("Retry-After"),
        )
    # Identity was requested: a compressed body would have to be unpacked to learn its size.
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise AttemptFailed("encoded", "a Content-Encoding is not accepted")
    # Not by Content-Length, which may be absent or wrong.
    async for chunk in response.content.iter_any():
        received += chunk
        if len(received) > size_bytes:
            raise AttemptFailed("too_large", f"larger than {size_bytes} bytes")


async def read_error_body(response: HttpResponse, received: bytearray) -> None:
    """Read the beginning of a body that says what is wrong, if it comes at once."""
    with suppress(ClientError, TimeoutError):
        async with asyncio.timeout(_ERROR_BODY_S):
            async for chunk in response.content.iter_any():
                received += chunk
                if len(received) > MAX_RESPONSE_BYTES:
                    break


def _parsed(body: bytes, limits: Limits) -> Action:
    try:
        return parse_action(body, limits)
    except BadInput as error:
        if not _is_json(body):
            raise AttemptFailed("not_json", "the body is not JSON") from None
        raise AttemptFailed("invalid_action", str(error)) from None


def _is_json(body: bytes) -> bool:
    try:
        msgspec.json.decode(body)
    except RecursionError:
        return True
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


_DELAY_S = 0.1
_JITTER_S = 0.2


def retry_delay_s(retry_after: str | None, now_s: float, random: float) -> float:
    """Return the delay; `now_s` is wall-clock, `random` within 0..1."""
    requested_s = parse_retry_after(retry_after, now_s)
    return (_DELAY_S if requested_s is None else requested_s) + _JITTER_S * random


def parse_retry_after(retry_after: str | None, now_s: float) -> float | None:
    """Parse a Retry-After header: seconds, or a date (RFC 9110, section 10.2.3)."""
    if retry_after is None:
        return None
    if retry_after.isascii() and retry_after.isdecimal():
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - now_s)
    except (ValueError, OverflowError):
        return None
