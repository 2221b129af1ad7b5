"""Sends a request to a customer's server: at most twice, within a time limit."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar

from aiohttp import ClientError, ClientSession, ClientTimeout
from msgspec import Struct
from msgspec.structs import replace

from base.http_client import exact_url
from base.lookups import connecting_for
from base.timers import timeout_after_arrivals
from engine.webhooks.errors import Attempt, AttemptFailed, WebhookFailed, classify_error
from engine.webhooks.log.exchange import (
    NO_LOG,
    AttemptLog,
    Received,
    Sent,
    Subject,
    exchange,
)
from engine.webhooks.response import HttpResponse, retry_delay_s

Result = TypeVar("Result")
# Reads a response into the buffer, also what is then found to be invalid: the log has it.
ReadResponse = Callable[[HttpResponse, bytearray], Awaitable[Result]]


class RequestListener(Protocol):
    """A machine that answers requests instead of their address."""

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, wait_s: float
    ) -> HttpResponse:
        """Send a request and await its response; raises AttemptFailed and TimeoutError."""


ListenerLookup = Callable[[str, str], RequestListener | None]  # by account and request id
SessionLookup = Callable[[str], ClientSession]  # by account


def no_listener(_account: str, _request_id: str) -> RequestListener | None:
    return None


class OutgoingRequest(Struct, frozen=True):
    """A request; headers are created for each attempt, because signatures contain the time."""

    method: str
    url: str
    headers: Callable[[], Mapping[str, str]]
    subject: Subject
    body: bytes | None = None
    listener: Callable[[], RequestListener | None] = lambda: None  # of the next attempt


class WebhookSender:
    """Sends over the account's session, which has an address guard.

    `clock` returns wall-clock seconds, `random` numbers within 0..1.
    """

    def __init__(
        self,
        session_of: SessionLookup,
        clock: Callable[[], float],
        random: Callable[[], float],
        connect_s: float,
        log: AttemptLog = NO_LOG,
    ) -> None:
        self._log = log
        self._session_of = session_of
        self._clock = clock
        self._random = random
        self._timeout = ClientTimeout(sock_connect=connect_s)

    async def send(
        self,
        request: OutgoingRequest,
        read: ReadResponse[Result],
        total_s: float,
        *,
        may_repeat: bool = True,
    ) -> tuple[Result, tuple[Attempt, ...]]:
        """Send and return what `read` makes of the response; raises WebhookFailed."""
        attempts: list[Attempt] = []
        try:
            ends_s = asyncio.get_running_loop().time() + total_s
            send = self._send_with_retry if may_repeat else self._attempt
            with connecting_for(request.subject.account):
                async with timeout_after_arrivals(total_s):
                    result = await send(request, read, attempts, ends_s)
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
        started_s, at_ms = asyncio.get_running_loop().time(), int(self._clock() * 1000)
        reason, detail, received = "timeout", "", Received()  # unless it ends otherwise
        listener = request.listener()
        sent = Sent(request.method, request.url, {}, request.body or b"")
        try:
            sent = replace(sent, headers=request.headers(), is_to_listener=listener is not None)
            async with self._response(request, sent, listener, ends_s - started_s) as response:
                received.begin(response)
                result = await read(response, received.body)
            reason = ""
        except (ClientError, ValueError) as error:
            failure = classify_error(error)
            reason, detail = failure.reason, failure.detail
            raise failure from None
        except AttemptFailed as failure:
            reason, detail = failure.reason, failure.detail
            raise
        finally:
            took_ms = round((asyncio.get_running_loop().time() - started_s) * 1000)
            attempts.append(Attempt(took_ms, received.status, reason))
            number = request.subject.first + len(attempts) - 1
            self._log.add(
                exchange(request.subject, number, at_ms, took_ms, sent, received, reason, detail)
            )
        return result

    @asynccontextmanager
    async def _response(
        self,
        request: OutgoingRequest,
        sent: Sent,
        listener: RequestListener | None,
        wait_s: float,
    ) -> AsyncIterator[HttpResponse]:
        if listener is not None:
            yield await listener.send(sent.method, sent.url, sent.headers, sent.body, wait_s)
            return
        session = self._session_of(request.subject.account)
        async with session.request(
            request.method,
            exact_url(request.url),
            data=request.body,
            headers=sent.headers,
            timeout=self._timeout,
            allow_redirects=False,
            auto_decompress=False,
        ) as response:
            yield response


def _fits(wait_s: float, ends_s: float) -> bool:
    return asyncio.get_running_loop().time() + wait_s < ends_s
