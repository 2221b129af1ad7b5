"""Delivers events over HTTPS, or by the account's own stored API request.

One POST, 2xx is success; redirects are not followed.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from time import perf_counter
from typing import Any, Protocol

import aiohttp
import msgspec
from aiohttp import ClientError, ClientResponse, ClientTimeout
from msgspec import Struct

from base.http_client import exact_url
from base.lookups import connecting_for
from engine.callbacks.transport import Delivered, Failed, Gone, Outcome, SignedEvent, reason_of
from engine.webhooks.errors import WebhookFailed, classify_error
from engine.webhooks.http_client import SessionLookup
from engine.webhooks.log.exchange import NO_LOG, AttemptLog, Received, Sent, exchange
from engine.webhooks.response import HttpResponse, parse_retry_after, read_error_body
from wire.callbacks.targets import ApiRequestTarget, DeliveryTarget, HttpsTarget

CONTENT_TYPE = "application/json"
CONNECT_TIMEOUT_S = 5.0
RESPONSE_TIMEOUT_S = 10.0
MAX_DRAINED_BYTES = 16_384  # of an ignored response: read so that the connection can be reused
_OK = range(200, 300)
_REDIRECT = range(300, 400)


class HttpTransport:
    """Posts over the account's session, which has an address guard."""

    def __init__(
        self,
        session_of: SessionLookup,
        clock: Callable[[], float] = time.time,
        response_timeout_s: float = RESPONSE_TIMEOUT_S,
        log: AttemptLog = NO_LOG,
    ) -> None:
        self._session_of = session_of
        self._clock = clock
        self._timeout = ClientTimeout(total=response_timeout_s, sock_connect=CONNECT_TIMEOUT_S)
        self._log = log

    async def deliver(self, target: DeliveryTarget, event: SignedEvent) -> Outcome:
        assert isinstance(target, HttpsTarget)  # noqa: S101 - narrows for mypy
        with connecting_for(event.account):
            return await self._post(target, event)

    async def _post(self, target: HttpsTarget, event: SignedEvent) -> Outcome:
        headers = {"Content-Type": CONTENT_TYPE, **event.headers}
        sent, received = Sent("POST", target.url, headers, event.body), Received()
        started_s, at_ms = perf_counter(), int(self._clock() * 1000)
        outcome: Outcome = Failed("timeout")  # unless it ends otherwise
        try:
            async with self._session_of(event.account).post(
                exact_url(target.url),
                data=event.body,
                headers=sent.headers,
                timeout=self._timeout,
                allow_redirects=False,
                auto_decompress=False,
            ) as response:
                received.begin(response)
                outcome = outcome_of(response, self._clock())
                if isinstance(outcome, Delivered):
                    await _drain_body(response, received.body)
                else:
                    await read_error_body(response, received.body)
        except TimeoutError:
            outcome = Failed("timeout")
        except (ClientError, ValueError) as error:
            outcome = Failed(classify_error(error).reason)
        finally:
            took_ms = round((perf_counter() - started_s) * 1000)
            reason = reason_of(outcome)
            self._log.add(
                exchange(event.subject, event.attempt, at_ms, took_ms, sent, received, reason)
            )
        return outcome


def outcome_of(response: HttpResponse, now_s: float) -> Outcome:
    """Return what a response means; `now_s` is wall-clock."""
    status = response.status
    if status in _OK:
        return Delivered()
    if status == HTTPStatus.GONE:
        return Gone()
    if status in _REDIRECT:
        return Failed("redirect")
    retry_after_s = parse_retry_after(response.headers.get("Retry-After"), now_s)
    return Failed(f"status_{status}", retry_after_s)


async def _drain_body(response: ClientResponse, received: bytearray) -> None:
    """Read a short response; aiohttp closes the connection of one that is not at its end.

    The event has arrived either way.
    """
    with suppress(aiohttp.ClientError, TimeoutError):
        received += await response.content.read(MAX_DRAINED_BYTES)


GONE_REASON = "status_410"


class ApiRequestSender(Protocol):
    """Sends accounts' stored API requests."""

    async def deliver(self, account: str, api: str, event: Mapping[str, Any], key: str) -> None:
        """Deliver an event by a request; raises WebhookFailed."""


class ApiRequestTransport(Struct, frozen=True):
    """Sends API requests; the event's id is the idempotency key.

    The request is signed as it is sent, since its body is not the event's.
    """

    sender: ApiRequestSender
    clock: Callable[[], float] = time.time

    async def deliver(self, target: DeliveryTarget, event: SignedEvent) -> Outcome:
        assert isinstance(target, ApiRequestTarget)  # noqa: S101 - narrows for mypy
        fields = msgspec.json.decode(event.body, type=dict[str, Any])
        try:
            await self.sender.deliver(event.account, target.id, fields, event.id)
        except WebhookFailed as error:
            if error.reason == GONE_REASON:
                return Gone()
            return Failed(error.reason, parse_retry_after(error.retry_after, self.clock()))
        return Delivered()
