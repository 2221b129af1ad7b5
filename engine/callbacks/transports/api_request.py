"""Events told by API requests: the account's own request, filled in with the event."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from engine.callbacks.messages import Delivered, Failed, Gone, Outcome, SignedEvent
from engine.webhooks.errors import WebhookFailed
from engine.webhooks.retry import parse_retry_after
from wire.callback_targets import ApiRequestTarget, DeliveryTarget

GONE_REASON = "status_410"


class ApiRequestSender(Protocol):
    """Who sends accounts' stored API requests."""

    async def deliver(self, account: str, api: str, event: Mapping[str, Any], key: str) -> None:
        """Tell an event by a request; raises WebhookFailed."""


class ApiRequestTransport:
    """The way to where an API request leads; the event's id is its idempotency key.

    It carries no signature of ours: the account says itself, by its headers and secrets, how its
    server knows it.
    """

    def __init__(self, apis: ApiRequestSender, clock: Callable[[], float] = time.time) -> None:
        self._sender = apis
        self._clock = clock

    async def deliver(self, place: DeliveryTarget, parcel: SignedEvent) -> Outcome:
        """See Carrier."""
        assert isinstance(place, ApiRequestTarget)  # noqa: S101 - narrows for mypy
        event = msgspec.json.decode(parcel.body, type=dict[str, Any])
        try:
            await self._sender.deliver(parcel.account, place.id, event, parcel.id)
        except WebhookFailed as error:
            if error.reason == GONE_REASON:
                return Gone()
            return Failed(error.reason, parse_retry_after(error.retry_after, self._clock()))
        return Delivered()
