"""Sends a logged request again: with its idempotency key, a new signature, and no effect on calls.

The response is logged as a further attempt, and ignored.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

from msgspec import Struct

from engine.callbacks.transport import SignedEvent, Transport, sign
from engine.runtime.io.attempt_writer import AttemptWriter
from engine.store.store import Store
from engine.store.webhook_log import NEWEST
from engine.webhooks.api_sender import MAX_RESPONSE_BYTES
from engine.webhooks.errors import WebhookFailed
from engine.webhooks.http_client import (
    ListenerLookup,
    OutgoingRequest,
    ReadResponse,
    SessionLookup,
    WebhookSender,
    no_listener,
)
from engine.webhooks.log.exchange import ShownRequest, Subject
from engine.webhooks.log.logged_attempt import LoggedAttempt, decompress
from engine.webhooks.log.refill import NotRepeatable, RepeatedRequest, refill, unsigned_headers
from engine.webhooks.response import read_action, read_body
from engine.webhooks.signatures import SignerLookup
from wire.callbacks.targets import parse_delivery_target
from wire.decoding.messages import decode_message
from wire.request import ApiRequest
from wire.tree import Limits
from wire.webhook_log import AttemptView

CONNECT_TIMEOUT_S, TOTAL_TIMEOUT_S = 5.0, 10.0
MAX_SEARCHED = 200  # attempts that may be stored meanwhile


class WebhookResend(Struct, frozen=True):
    """Repeats attempts; `session_of` returns the session that may reach an account's servers."""

    store: Store
    writer: AttemptWriter
    session_of: SessionLookup
    transports: Mapping[type, Transport]
    signer_of: SignerLookup
    limits: Limits
    listener_of: ListenerLookup = no_listener
    clock: Callable[[], float] = time.time

    async def repeat(
        self, account: str, attempt_id: str, attempt: LoggedAttempt
    ) -> AttemptView | None:
        """Send a request once more; returns the new attempt, or None if it could not be logged.

        Raises NotRepeatable, WebhookFailed if there is no signature, and StoreDown.
        """
        if not attempt.is_repeatable:
            raise NotRepeatable("the log does not have the whole request")
        if attempt.api_request or attempt.kind != "callback":
            await self._send(account, attempt_id, attempt)
        else:
            await self._deliver(account, attempt_id, attempt)
        await self.writer.flush()
        return await self._logged(account, attempt_id)

    async def _send(self, account: str, attempt_id: str, attempt: LoggedAttempt) -> None:
        repeated, signer = await self._request(account, attempt), await self.signer_of(account)
        subject = Subject(
            account,
            attempt.kind,
            attempt.request_id,
            attempt.api_request,
            retry_of=attempt_id,
            first=attempt.number + 1,
            shown=ShownRequest(attempt.url, unsigned_headers(attempt), attempt.body),
            secrets=repeated.secrets,
        )

        def headers() -> Mapping[str, str]:
            signature = signer.headers(
                subject.request_id, self.clock(), repeated.body, repeated.url
            )
            return {**repeated.headers, **signature}

        has_listener = attempt.kind in {"action", "gather"}
        listener_of = self.listener_of if has_listener else no_listener
        listener = partial(listener_of, account, attempt.request_id)
        request = OutgoingRequest(
            attempt.method,
            repeated.url,
            headers,
            subject,
            repeated.body or None,
            listener,
        )
        sender = WebhookSender(
            self.session_of, self.clock, _no_jitter, CONNECT_TIMEOUT_S, self.writer
        )
        with suppress(WebhookFailed):  # which is what the log says
            await sender.send(request, self._reader(attempt), TOTAL_TIMEOUT_S, may_repeat=False)

    async def _request(self, account: str, attempt: LoggedAttempt) -> RepeatedRequest:
        if not attempt.api_request:
            return RepeatedRequest(attempt.url, unsigned_headers(attempt), attempt.body)
        stored = await self.store.request(account, attempt.api_request)
        if stored is None:
            raise NotRepeatable(f"the account has no API request {attempt.api_request} any more")
        return refill(attempt, decode_message(stored, ApiRequest))

    def _reader(self, attempt: LoggedAttempt) -> ReadResponse[object]:
        if attempt.kind in {"action", "gather"}:
            return partial(read_action, limits=self.limits)
        return partial(read_body, size_bytes=MAX_RESPONSE_BYTES)

    async def _deliver(self, account: str, attempt_id: str, attempt: LoggedAttempt) -> None:
        target = parse_delivery_target(attempt.url, "url")
        signer = await self.signer_of(account)
        event = SignedEvent(
            account,
            attempt.request_id,
            attempt.body,
            attempt=attempt.number + 1,
            retry_of=attempt_id,
        )
        event = sign(event, target, signer, self.clock())
        await self.transports[type(target)].deliver(target, event)

    async def _logged(self, account: str, attempt_id: str) -> AttemptView | None:
        for stored in await self.store.webhook_log.read_before(account, NEWEST, MAX_SEARCHED):
            attempt = decompress(stored.body)
            if attempt is not None and attempt.retry_of == attempt_id:
                return attempt.view(stored.id)
        return None


def _no_jitter() -> float:
    return 0.0
