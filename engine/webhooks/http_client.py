"""Sending a request to a customer's server: at most twice, within a time, each try remembered."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout
from msgspec import Struct
from yarl import URL

from engine.webhooks.errors import Attempt, AttemptFailed, WebhookFailed, classify_error
from engine.webhooks.retry import retry_delay_s

Result = TypeVar("Result")
ReadResponse = Callable[[ClientResponse], Awaitable[Result]]


class OutgoingRequest(Struct, frozen=True):
    """What is sent; headers are made anew for each try, as their time is part of what is signed."""

    method: str
    url: str | URL
    headers: Callable[[], Mapping[str, str]]
    body: bytes | None = None


class WebhookSender:
    """Sends over a session that guards addresses.

    `clock` gives wall-clock seconds, `random` numbers within 0..1.
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
        self, asked: OutgoingRequest, read: ReadResponse[Result], total_s: float
    ) -> tuple[Result, tuple[Attempt, ...]]:
        """Send, and give what `read` makes of the answer; raises WebhookFailed."""
        attempts: list[Attempt] = []
        try:
            async with asyncio.timeout(total_s) as limit:
                got = await self._send_with_retry(asked, read, attempts, limit)
        except TimeoutError:
            text = f"no answer in {total_s} s"
            raise WebhookFailed("timeout", text, tuple(attempts)) from None
        except AttemptFailed as fault:
            tries = tuple(attempts)
            raise WebhookFailed(fault.reason, fault.detail, tries, fault.retry_after) from None
        return got, tuple(attempts)

    async def _send_with_retry(
        self,
        asked: OutgoingRequest,
        read: ReadResponse[Result],
        attempts: list[Attempt],
        limit: asyncio.Timeout,
    ) -> Result:
        try:
            return await self._attempt(asked, read, attempts)
        except AttemptFailed as fault:
            wait_s = retry_delay_s(fault.retry_after, self._clock(), self._random())
            if not (fault.is_transient and _fits(wait_s, limit)):
                raise
        await asyncio.sleep(wait_s)
        return await self._attempt(asked, read, attempts)

    async def _attempt(
        self, asked: OutgoingRequest, read: ReadResponse[Result], attempts: list[Attempt]
    ) -> Result:
        began_s = asyncio.get_running_loop().time()
        status, reason = 0, "timeout"  # unless it ends in another way
        try:
            async with self._session.request(
                asked.method,
                asked.url,
                data=asked.body,
                headers=asked.headers(),
                timeout=self._timeout,
                allow_redirects=False,
                auto_decompress=False,
            ) as response:
                status = response.status
                got = await read(response)
            reason = ""
        except (ClientError, ValueError) as error:
            fault = classify_error(error)
            reason = fault.reason
            raise fault from None
        except AttemptFailed as fault:
            reason = fault.reason
            raise
        finally:
            took_s = asyncio.get_running_loop().time() - began_s
            attempts.append(Attempt(round(took_s * 1000), status, reason))
        return got


def _fits(wait_s: float, limit: asyncio.Timeout) -> bool:
    ends_s = limit.when()
    return ends_s is None or asyncio.get_running_loop().time() + wait_s < ends_s
