"""Delivers events by the account's own stored API request, filled in with the event."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from engine.callbacks.transport import Delivered, Failed, Gone, Outcome, SignedEvent
from engine.webhooks.errors import WebhookFailed
from engine.webhooks.retry import parse_retry_after
from wire.callbacks.targets import ApiRequestTarget, DeliveryTarget

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
