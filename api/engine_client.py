"""The engine's RPC, as bytes in and out; any engine answers, so the next one is asked for one gone.

What may have been done already is not asked twice: only a connection that was never made, or a
request that changes nothing, goes to the next engine.
"""

import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import aiohttp
import msgspec

from api.common.errors import ApiError, Conflict, InvalidRequest, NotFound, ServiceUnavailable
from wire.rpc import Problem

T = TypeVar("T")
RESPONSE_TIMEOUT_S = 15.0
CONNECT_TIMEOUT_S = 3.0
ERROR_STATUS = 400
MAX_ID_CHARS = (
    256  # longer than any: engines take no line of more than 8 KB, and know no problem then
)
ERRORS_BY_STATUS: dict[int, type[ApiError]] = {
    400: InvalidRequest,
    404: NotFound,
    409: Conflict,
    413: InvalidRequest,
}
_ID = re.compile(r"[A-Za-z0-9_\-]+(\.[A-Za-z0-9_\-]+)*")


class EngineUnavailable(ServiceUnavailable):
    """No engine answers, or not as one does."""

    code = "no_engine"


class EngineClient:
    """Asks engines in turn; what they refuse is raised as a problem of ours."""

    def __init__(self, http: aiohttp.ClientSession, urls: Sequence[str]) -> None:
        self.http = http
        self._engines = EngineRotation(urls)

    async def request(
        self,
        shape: type[T],
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, str] | None = None,
    ) -> T:
        """Ask, and decode the answer."""
        answer = await self.request_raw(method, path, body, query)
        try:
            return msgspec.json.decode(answer, type=shape)
        except msgspec.DecodeError as error:
            raise EngineUnavailable(f"an engine's answer is not understood ({error})") from None

    async def request_raw(
        self, method: str, path: str, body: object = None, query: Mapping[str, str] | None = None
    ) -> bytes:
        """Ask, and give the answer as it is."""
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
        """Ask for something that does not end, which must say something every few seconds."""
        limit = aiohttp.ClientTimeout(connect=CONNECT_TIMEOUT_S, sock_read=RESPONSE_TIMEOUT_S)
        for engine in self._engines:
            url = f"{engine}/rpc/v1{path}"
            try:
                reply = await self.http.get(url, params=query, headers=headers, timeout=limit)
            except (aiohttp.ClientError, TimeoutError):
                self._engines.mark_failed(engine)
                continue
            async with reply:
                if reply.status >= ERROR_STATUS:
                    raise _refusal(reply.status, await reply.read(), None)
                yield reply.content
                return
        raise EngineUnavailable("no engine answers", retry_after_s=1)

    async def _send(
        self, method: str, url: str, data: bytes | None, query: Mapping[str, str] | None
    ) -> bytes:
        async with self.http.request(method, url, data=data, params=query) as reply:
            answer = await reply.read()
            if reply.status >= ERROR_STATUS:
                raise _refusal(reply.status, answer, reply.headers.get("Retry-After"))
            return answer


def call_path(call_id: str, deed: str = "") -> str:
    """Name a call, or a deed to it, as the RPC does; raises NotFound for what can't be an id."""
    return f"/calls/{id_in_path(call_id)}{deed}"


def id_in_path(text: str) -> str:
    """Check that an id can be part of a path and mean nothing else there; raises NotFound."""
    if len(text) > MAX_ID_CHARS or _ID.fullmatch(text) is None:
        raise NotFound("no such id")
    return text


@asynccontextmanager
async def open_client(urls: Sequence[str], token: str) -> AsyncIterator[EngineClient]:
    """Give a client for as long as the context lasts."""
    headers = {"Authorization": f"Bearer {token}"}
    limit = aiohttp.ClientTimeout(total=RESPONSE_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(
        headers=headers,
        timeout=limit,
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
    ) as http:
        yield EngineClient(http, urls)


def _refusal(status: int, answer: bytes, again: str | None) -> ApiError:
    try:
        told: Any = msgspec.json.decode(answer, type=Problem)
    except msgspec.DecodeError:
        return EngineUnavailable(f"something else answers where an engine should (HTTP {status})")
    if kind := ERRORS_BY_STATUS.get(status):
        return kind(told.detail or told.title, told.code, errors=told.errors)
    wait_s = int(again) if again and again.isdecimal() else 1
    if status == ServiceUnavailable.status:
        return ServiceUnavailable(told.detail or told.title, told.code, retry_after_s=wait_s)
    return EngineUnavailable(f"an engine can't do this now (HTTP {status})", retry_after_s=wait_s)


COOLDOWN_S = 10.0  # one that hangs costs its asker the whole patience: few should pay


class EngineRotation:
    """The engines' addresses, each time from another on; of this process only."""

    def __init__(self, urls: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._urls = [url.rstrip("/") for url in urls]
        self._cooldown_until_s = dict.fromkeys(self._urls, 0.0)
        self._clock = clock
        self._next = 0

    def __iter__(self) -> Iterator[str]:
        """Give all, those that rest last."""
        self._next += 1
        begin, now_s = self._next % len(self._urls), self._clock()
        turned = self._urls[begin:] + self._urls[:begin]
        return iter(sorted(turned, key=lambda url: self._cooldown_until_s[url] > now_s))

    def mark_failed(self, url: str) -> None:
        """Let one rest that did not answer."""
        self._cooldown_until_s[url] = self._clock() + COOLDOWN_S
