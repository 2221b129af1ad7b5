"""Sends a request to a customer's server: at most twice, within a time limit."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar

from aiohttp import ClientError, ClientSession, ClientTimeout
from msgspec import Struct
from yarl import URL

from engine.common.loop_timer import timeout_after_arrivals
from engine.webhooks.errors import Attempt, AttemptFailed, WebhookFailed, classify_error
from engine.webhooks.response import HttpResponse
from engine.webhooks.retry import retry_delay_s

Result = TypeVar("Result")
ReadResponse = Callable[[HttpResponse], Awaitable[Result]]


class RequestListener(Protocol):
    """A machine that answers requests instead of their address."""

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, wait_s: float
    ) -> HttpResponse:
        """Send a request and await its response; raises AttemptFailed and TimeoutError."""


ListenerLookup = Callable[[str, str], RequestListener | None]  # by account and request id


def no_listener(_account: str, _request_id: str) -> RequestListener | None:
    return None


class OutgoingRequest(Struct, frozen=True):
    """A request; headers are created for each attempt, because signatures contain the time."""

    method: str
    url: str | URL
    headers: Callable[[], Mapping[str, str]]
    body: bytes | None = None
    listener: Callable[[], RequestListener | None] = lambda: None  # of the next attempt


class WebhookSender:
    """Sends over a session with an address guard.

    `clock` returns wall-clock seconds, `random` numbers within 0..1.
    """

    def __init__(
        self,
        session: ClientSession,
        clock: Callable[[], float],
        random: Callable[[], float],
        connect_s: float,
    ) -> None:
        self._session = session
        self._clock = clock
        self._random = random
        self._timeout = ClientTimeout(sock_connect=connect_s)

    async def send(
        self, request: OutgoingRequest, read: ReadResponse[Result], total_s: float
    ) -> tuple[Result, tuple[Attempt, ...]]:
        """Send and return what `read` makes of the response; raises WebhookFailed."""
        attempts: list[Attempt] = []
        try:
            ends_s = asyncio.get_running_loop().time() + total_s
            async with timeout_after_arrivals(total_s):
                result = await self._send_with_retry(request, read, attempts, ends_s)
        except TimeoutError:
            text = f"no answer in {total_s} s"
            raise WebhookFailed("timeout", text, tuple(attempts)) from None
        except AttemptFailed as failure:
            failed = tuple(attempts)
            raise WebhookFailed(
                failure.reason, failure.detail, failed, failure.retry_after
            ) from None
        return result, tuple(attempts)

    async def _send_with_retry(
        self,
        request: OutgoingRequest,
        read: ReadResponse[Result],
        attempts: list[Attempt],
        ends_s: float,
    ) -> Result:
        try:
            return await self._attempt(request, read, attempts, ends_s)
        except AttemptFailed as failure:
            wait_s = retry_delay_s(failure.retry_after, self._clock(), self._random())
            if not (failure.is_transient and _fits(wait_s, ends_s)):
                raise
        await asyncio.sleep(wait_s)
        return await self._attempt(request, read, attempts, ends_s)

    async def _attempt(
        self,
        request: OutgoingRequest,
        read: ReadResponse[Result],
        attempts: list[Attempt],
        ends_s: float,
    ) -> Result:
        started_s = asyncio.get_running_loop().time()
        status, reason = 0, "timeout"  # unless it ends otherwise
        try:
            async with self._response(request, ends_s - started_s) as response:
                status = response.status
                result = await read(response)
            reason = ""
        except (ClientError, ValueError) as error:
            failure = classify_error(error)
            reason = failure.reason
            raise failure from None
        except AttemptFailed as failure:
            reason = failure.reason
            raise
        finally:
            duration_s = asyncio.get_running_loop().time() - started_s
            attempts.append(Attempt(round(duration_s * 1000), status, reason))
        return result

    @asynccontextmanager
    async def _response(
        self, request: OutgoingRequest, wait_s: float
    ) -> AsyncIterator[HttpResponse]:
        listener, headers = request.listener(), request.headers()
        if listener is not None:
            body = request.body or b""
            yield await listener.send(request.method, str(request.url), headers, body, wait_s)
            return
        async with self._session.request(
            request.method,
            request.url,
            data=request.body,
            headers=headers,
            timeout=self._timeout,
            allow_redirects=False,
            auto_decompress=False,
        ) as response:
            yield response


def _fits(wait_s: float, ends_s: float) -> bool:
    return asyncio.get_running_loop().time() + wait_s < ends_s
