"""Customers' servers, timed: each question counts for the node and slot of its call."""

from collections.abc import Awaitable
from time import perf_counter
from typing import Protocol, TypeVar

from engine.calls.flows.templates import Lookup
from engine.calls.model.ids import call_of, slot_and_node
from engine.observe.metrics import Metrics
from engine.runtime.io.runner import ActionSource, ApiRequests, ApiResponse
from engine.webhooks.action_client import ActionResponse
from engine.webhooks.errors import Attempt, WebhookFailed


class _HasAttempts(Protocol):
    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """What it took."""


Response = TypeVar("Response", bound=_HasAttempts)


class _WebhookTimer:
    def __init__(self, meter: Metrics) -> None:
        self._counts = meter.external

    async def timed(self, asking: Awaitable[Response], request_id: str) -> Response:
        """Time and count a question, however it ends."""
        node, slot = node_and_slot(request_id)
        began_s = perf_counter()
        try:
            answer = await asking
        except WebhookFailed as error:
            outcome = "timeout" if error.reason == "timeout" else "failed"
            self._counts.webhook_failures.table(node, slot)[error.reason] += 1
            self._took(began_s, (node, slot), outcome, error.attempts)
            raise
        self._took(began_s, (node, slot), "answered", answer.attempts)
        return answer

    def _took(
        self, began_s: float, place: tuple[str, str], outcome: str, tries: tuple[Attempt, ...]
    ) -> None:
        self._counts.webhook_duration.series(*place, outcome).observe(perf_counter() - began_s)
        if len(tries) > 1:
            node, slot = place
            self._counts.webhook_retries.table(node)[slot] += 1


class MeteredActionClient:
    """An asker whose questions are timed and counted."""

    def __init__(self, asker: ActionSource, meter: Metrics) -> None:
        self._asker = asker
        self._watch = _WebhookTimer(meter)

    async def ask(self, url: str, body: bytes, request_id: str) -> ActionResponse:
        """Ask for the next action; raises WebhookFailed."""
        return await self._watch.timed(self._asker.ask(url, body, request_id), request_id)


class MeteredApiRequests:
    """APIs whose requests are timed and counted as webhooks are."""

    def __init__(self, apis: ApiRequests, meter: Metrics) -> None:
        self._apis = apis
        self._watch = _WebhookTimer(meter)

    async def ask(self, account: str, api: str, values: Lookup, key: str) -> ApiResponse:
        """Send a request; raises WebhookFailed."""
        return await self._watch.timed(self._apis.ask(account, api, values, key), key)


def node_and_slot(request_id: str) -> tuple[str, str]:
    """Name the node and the slot of the call that a question is about."""
    slot, node = slot_and_node(call_of(request_id) or "") or ("", "")
    return node, str(slot)
