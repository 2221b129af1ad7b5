"""Downloads audio into a file, within limits, and detects its container."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO

from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
)
from msgspec import Struct
from yarl import URL

from base.http_client import exact_url, failure_word
from engine.media.clip import MediaError, MediaLimits
from engine.media.worker.sniff import HEAD_BYTES, Container, detect_container

_MAX_AGE = re.compile(r"\bmax-age\s*=\s*\"?(\d{1,9})")
_MUST_REVALIDATE = re.compile(r"\bno-(cache|store)\b")
_MAX_FRESH_MS = 7 * 24 * 3_600_000
_WRITE_BYTES = 1 << 20
NOT_MODIFIED = 304
REDIRECTS = frozenset({301, 302, 303, 307, 308})
MAX_REDIRECTS = 5


def fresh_ms(cache_control: str, default_ms: int, min_ms: int) -> int:
    """Return how long a Cache-Control header allows; at least `min_ms`, also for no-store."""
    rule = cache_control.lower()
    if _MUST_REVALIDATE.search(rule):
        return min_ms
    if found := _MAX_AGE.search(rule):
        return max(min_ms, min(int(found[1]) * 1000, _MAX_FRESH_MS))
    return default_ms


def usable_etag(etag: str) -> str:
    """Return an ETag that can be stored and sent back; empty for any other.

    It is visible ASCII (RFC 9110, section 8.8.3). Other bytes, which are obsolete there, may be in
    no encoding.
    """
    return etag if etag.isascii() and etag.isprintable() else ""


class DownloadResult(Struct, frozen=True):
    """The container (None: not modified), the ETag, and how long the audio is fresh."""

    kind: Container | None
    etag: str
    fresh_ms: int


async def download(
    session: ClientSession, url: str, etag: str, target: Path, limits: MediaLimits
) -> DownloadResult:
    """Download audio into `target`, unless its ETag is still `etag`; raises MediaError."""
    try:
        async with (
            asyncio.timeout(limits.download_s),
            _final_response(session, exact_url(url), _headers(etag), limits) as response,
        ):
            _check_status(response)
            is_new = response.status != NOT_MODIFIED
            kind = await _save(response, target, limits) if is_new else None
            rule = response.headers.get("Cache-Control", "")
            freshness_ms = fresh_ms(rule, limits.fresh_ms, limits.retry_ms)
            new_etag = usable_etag(response.headers.get("ETag", ""))
            return DownloadResult(kind, new_etag, freshness_ms)
    except TimeoutError:
        raise MediaError("timeout", f"no audio within {limits.download_s:g} s") from None
    except ValueError as error:  # of an address, perhaps of a redirect: its host or its port
        raise MediaError("refused_address", f"not a valid address: {error}") from None
    except ClientError as error:
        raise _to_media_error(error) from None


@asynccontextmanager
async def _final_response(
    session: ClientSession, url: URL, headers: dict[str, str], limits: MediaLimits
) -> AsyncIterator[ClientResponse]:
    """Follow redirects, as storage services send them; the session guards each connection."""
    timeout = ClientTimeout(total=None, sock_connect=limits.connect_s)
    for _ in range(1 + MAX_REDIRECTS):
        async with session.get(
            url,
            allow_redirects=False,  # aiohttp would change the characters of a signed address
            timeout=timeout,
            headers=headers,
            auto_decompress=False,  # audio is not compressed; this would block the event loop
        ) as response:
            if response.status not in REDIRECTS:
                yield response
                return
            url = _redirected(response, url)
    raise MediaError("redirect", f"more than {MAX_REDIRECTS} redirects")


def _redirected(response: ClientResponse, url: URL) -> URL:
    location = response.headers.get("Location", "")
    target = url.join(exact_url(location))
    if not location or target.scheme not in {"https", url.scheme}:
        text = f"a redirect to {location or 'nowhere'} is not followed"
        raise MediaError("redirect", f"HTTP status {response.status}; {text}")
    return target


def _headers(etag: str) -> dict[str, str]:
    headers = {"Accept": "audio/*, */*;q=0.1", "Accept-Encoding": "identity"}
    return headers | ({"If-None-Match": etag} if etag else {})


def _check_status(response: ClientResponse) -> None:
    match response.status:
        case 200 | 304:
            return
        case 404 | 410 as status:
            raise MediaError("not_found", f"HTTP status {status}")
        case status:
            raise MediaError("http_status", f"HTTP status {status}")


async def _save(response: ClientResponse, target: Path, limits: MediaLimits) -> Container:
    if (response.content_length or 0) > limits.download_bytes:
        raise _too_large(limits)
    with await asyncio.to_thread(target.open, "wb") as file:
        return await _copy(response, file, limits)


async def _copy(response: ClientResponse, file: BinaryIO, limits: MediaLimits) -> Container:
    head, kind, total, buffer = b"", None, 0, bytearray()
    async for chunk in response.content.iter_chunked(1 << 16):
        total += len(chunk)
        if total > limits.download_bytes:
            raise _too_large(limits)
        if len(head) < HEAD_BYTES:
            head = (head + chunk)[:HEAD_BYTES]
            kind = detect_container(head)
            if kind is None and len(head) == HEAD_BYTES:
                raise MediaError("not_audio", "not audio of a known format")
        buffer += chunk
        if len(buffer) > _WRITE_BYTES:
            await asyncio.to_thread(file.write, bytes(buffer))
            buffer.clear()
    await asyncio.to_thread(file.write, bytes(buffer))
    if kind is None:
        raise MediaError("not_audio", "not audio of a known format")
    return kind


def _too_large(limits: MediaLimits) -> MediaError:
    return MediaError("too_large", f"more than {limits.download_bytes} bytes")


def _to_media_error(error: ClientError) -> MediaError:
    # The address guard raises PermissionError; so does a local firewall.
    if isinstance(error, ClientConnectorError) and isinstance(error.os_error, PermissionError):
        return MediaError("refused_address", error.os_error.strerror or str(error.os_error))
    return MediaError("unreachable", failure_word(error))
