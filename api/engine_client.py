"""Client of the engines' RPC. Any engine serves any request, so another replaces one that fails.

A request that may have been executed is not repeated: the next engine is tried only if no
connection was made, or if the request changes nothing.
"""

import re
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
import msgspec
import structlog

from api.common.errors import (
    ApiError,
    Conflict,
    InvalidRequest,
    NotFound,
    RangeNotSatisfiable,
    ServiceUnavailable,
    TooManyRequests,
)
from base.loop_cost import CHARGE, SERVER_TIMING, from_header
from base.tls import client_context
from base.tracing import RequestTraces
from wire.decoding.messages import decode_message
from wire.rpc import Problem

log = structlog.get_logger()
T = TypeVar("T")
RESPONSE_TIMEOUT_S = 15.0
CONNECT_TIMEOUT_S = 3.0
COOLDOWN_S = 10.0  # after a failure: an engine that hangs costs a request the whole timeout
ERROR_STATUS = 400
MAX_ID_CHARS = 256  # longer than any id; engines answer a request line over 8 KB without a problem
ERRORS_BY_STATUS: dict[int, type[ApiError]] = {
    400: InvalidRequest,
    404: NotFound,
    409: Conflict,
    413: InvalidRequest,
    416: RangeNotSatisfiable,
}
_ID = re.compile(r"[A-Za-z0-9_\-]+(\.[A-Za-z0-9_\-]+)*")


class EngineRotation:
    """Round-robin over the engines' addresses; those that failed come last for a while."""

    def __init__(self, urls: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._urls = [url.rstrip("/") for url in urls]
        self._cooldown_until_s = dict.fromkeys(self._urls, 0.0)
        self._clock = clock
        self._next = 0

    def __iter__(self) -> Iterator[str]:
        self._next += 1
        begin, now_s = self._next % len(self._urls), self._clock()
        rotated = self._urls[begin:] + self._urls[:begin]
        return iter(sorted(rotated, key=lambda url: self._cooldown_until_s[url] > now_s))

    def mark_failed(self, url: str) -> None:
        self._cooldown_until_s[url] = self._clock() + COOLDOWN_S


class EngineUnavailable(ServiceUnavailable):
    """No engine responds, or the response is not an engine's."""

    code = "no_engine"


class EngineClient:
    """Sends requests to engines in turn; their problems are raised as ApiErrors."""

    def __init__(
        self,
        http: aiohttp.ClientSession,
        urls: Sequence[str],
        traces: RequestTraces | None = None,
    ) -> None:
        self.http = http
        self._engines = EngineRotation(urls)
        self._traces = traces

    async def request(
        self,
        shape: type[T],
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, str] | None = None,
    ) -> T:
        """Send a request, and decode the response."""
        response = await self.request_raw(method, path, body, query)
        try:
            return decode_message(response, shape)
        except msgspec.DecodeError as error:
            log.warning("engine's answer not understood", path=path, error=str(error))
            raise EngineUnavailable("an engine's answer is not understood") from None

    async def request_raw(
        self, method: str, path: str, body: object = None, query: Mapping[str, str] | None = None
    ) -> bytes:
        """Send a request, and return the response body."""
        data = None if body is None else msgspec.json.encode(body)
        for engine in self._engines:
            try:
                return await self._send(method, f"{engine}/rpc/v1{path}", data, query)
            except aiohttp.ClientConnectorError:
                self._engines.mark_failed(engine)
            except (aiohttp.ClientError, TimeoutError):
                self._engines.mark_failed(engine)
                if method != "GET":
                    break
        raise EngineUnavailable("no engine answers", retry_after_s=1)

    @asynccontextmanager
    async def stream(
        self, path: str, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> AsyncIterator[aiohttp.StreamReader]:
        """Open an endless response, which must send something within each RESPONSE_TIMEOUT_S."""
        async with self.open(path, query, headers) as reply:
            yield reply.content

    @asynccontextmanager
    async def open(
        self, path: str, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Open a response that is read piece by piece; raises ApiError."""
        limit = aiohttp.ClientTimeout(connect=CONNECT_TIMEOUT_S, sock_read=RESPONSE_TIMEOUT_S)
        if self._traces is not None:
            headers = {**headers, **self._traces.headers()}
        error: ApiError = EngineUnavailable("no engine answers", retry_after_s=1)
        for engine in self._engines:
            url = f"{engine}/rpc/v1{path}"
            try:
                reply = await self.http.get(url, params=query, headers=headers, timeout=limit)
            except (aiohttp.ClientError, TimeoutError):
                self._engines.mark_failed(engine)
                continue
            async with reply:
                if reply.status < ERROR_STATUS:
                    yield reply
                    return
                error = _to_error(reply.status, await reply.read(), None)
                if isinstance(error, RangeNotSatisfiable):
                    error.content_range = reply.headers.get("Content-Range", "")
            if not isinstance(error, ServiceUnavailable):  # else another engine may have room
                break
        raise error

    async def _send(
        self, method: str, url: str, data: bytes | None, query: Mapping[str, str] | None
    ) -> bytes:
        headers = None if self._traces is None else self._traces.headers()
        async with self.http.request(
            method, url, data=data, params=query, headers=headers
        ) as reply:
            response = await reply.read()
            CHARGE.get()(from_header(reply.headers.get(SERVER_TIMING)))
            if reply.status >= ERROR_STATUS:
                raise _to_error(reply.status, response, reply.headers.get("Retry-After"))
            return response


def call_path(call_id: str, action: str = "") -> str:
    """Return the RPC path of a call, or of an action on it; raises NotFound for a malformed id."""
    return f"/calls/{id_in_path(call_id)}{action}"


def id_in_path(text: str) -> str:
    """Return an id that is safe as a path segment; raises NotFound."""
    if len(text) > MAX_ID_CHARS or _ID.fullmatch(text) is None:
        raise NotFound("no such id: expected letters, digits, _ or -, with single dots between")
    return text


@asynccontextmanager
async def open_client(
    urls: Sequence[str],
    token: str,
    ca: Path | None = None,
    traces: RequestTraces | None = None,
) -> AsyncIterator[EngineClient]:
    """Yield a client for as long as the context lasts.

    `ca` verifies https engines (None: the system's certificates); raises TlsFileError.
    """
    headers = {"Authorization": f"Bearer {token}"}
    limit = aiohttp.ClientTimeout(total=RESPONSE_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
    connector = aiohttp.TCPConnector(limit=0, ssl=verifier(ca))
    async with aiohttp.ClientSession(
        headers=headers,
        timeout=limit,
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
    ) as http:
        yield EngineClient(http, urls, traces)


def verifier(ca: Path | None) -> ssl.SSLContext | bool:
    """Return what verifies servers of the operator; raises TlsFileError."""
    if ca is None:
        return True  # by the system's certificates, which aiohttp has loaded once
    return client_context(ca)


def _to_error(status: int, response: bytes, retry_after: str | None) -> ApiError:
    try:
        problem: Any = decode_message(response, Problem)
    except msgspec.DecodeError:
        return EngineUnavailable(f"something else answers where an engine should (HTTP {status})")
    if kind := ERRORS_BY_STATUS.get(status):
        return kind(problem.detail or problem.title, problem.code, errors=problem.errors)
    wait_s = int(retry_after) if retry_after and retry_after.isdecimal() else 1
    if status == TooManyRequests.status:
        return TooManyRequests(problem.detail or problem.title, problem.code, retry_after_s=wait_s)
    if status == ServiceUnavailable.status:
        return ServiceUnavailable(
            problem.detail or problem.title, problem.code, retry_after_s=wait_s
        )
    return EngineUnavailable(f"an engine can't do this now (HTTP {status})", retry_after_s=wait_s)
