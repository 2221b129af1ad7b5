"""Sends accounts' stored API requests; each is read from the store when it is sent."""

from collections.abc import Mapping
from typing import Any

import structlog
from msgspec import Struct
from msgspec.structs import replace

from engine.calls.flows.templates import Lookup
from engine.store.errors import StoreDown
from engine.store.store import Store
from engine.webhooks.api_sender import ApiResponse, ApiSender
from engine.webhooks.errors import WebhookFailed
from engine.webhooks.log.exchange import Subject
from engine.webhooks.signatures import SignerLookup
from wire.decoding.messages import decode_message
from wire.request import ApiRequest

log = structlog.get_logger()


class ApiRequestRunner(Struct, frozen=True):
    """Sends API requests by id: during calls, and to deliver call events."""

    store: Store
    sender: ApiSender
    signer_of: SignerLookup

    async def ask(self, account: str, api: str, values: Lookup, key: str) -> ApiResponse:
        """Send a request with its templates filled in; raises WebhookFailed."""
        request = await self._read(account, api)
        return await self._send(request, values, Subject(account, "request", key, api))

    async def deliver(self, account: str, api: str, event: Mapping[str, Any], key: str) -> None:
        """Deliver an event by a request with `{{event.name}}` templates; raises WebhookFailed.

        Repetitions with one key are one delivery. The response is ignored.
        """
        request = replace(await self._read(account, api), answers={})
        await self._send(request, event_values(event), Subject(account, "callback", key, api))

    async def _send(self, request: ApiRequest, values: Lookup, subject: Subject) -> ApiResponse:
        signer = await self.signer_of(subject.account)
        return await self.sender.send(request, values, subject, signer)

    async def _read(self, account: str, api: str) -> ApiRequest:
        try:
            body = await self.store.request(account, api)
        except StoreDown as error:
            log.warning("api request not read", account=account, request=api, error=str(error))
            raise WebhookFailed("store_down", error.detail, ()) from None
        if body is None:
            raise WebhookFailed("unknown_request", f"no API request {api}", ())
        return decode_message(body, ApiRequest)


def event_values(event: Mapping[str, Any]) -> Lookup:
    """Return the lookup of an event's fields: `event.name`, nested `event.name.name`."""

    def value(name: str) -> Any:
        root, *steps = name.split(".")
        current: Any = event if root == "event" else None
        for step in steps:
            current = current.get(step) if isinstance(current, Mapping) else None
        return current

    return value
