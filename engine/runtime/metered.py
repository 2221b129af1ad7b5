"""Customers' servers, timed: each question counts for the node and slot of its call."""

from time import perf_counter

from engine.calls.ids import call_of, slot_and_node
from engine.observe.meter import Meter
from engine.runtime.errands import Asker
from engine.webhooks.ask import Answer
from engine.webhooks.failure import Attempt, WebhookFailed


class MeteredAsker:
    """An asker whose questions are timed and counted."""

    def __init__(self, asker: Asker, meter: Meter) -> None:
        self._asker = asker
        self._counts = meter.outside

    async def ask(self, url: str, body: bytes, request_id: str) -> Answer:
        """Ask for the next action; raises WebhookFailed."""
        node, slot = place_of(request_id)
        began_s = perf_counter()
        try:
            answer = await self._asker.ask(url, body, request_id)
        except WebhookFailed as error:
            outcome = "timeout" if error.reason == "timeout" else "failed"
            self._counts.webhook_faults.of(node, slot)[error.reason] += 1
            self._took(began_s, (node, slot), outcome, error.attempts)
            raise
        self._took(began_s, (node, slot), "answered", answer.attempts)
        return answer

    def _took(
        self, began_s: float, place: tuple[str, str], outcome: str, tries: tuple[Attempt, ...]
    ) -> None:
        self._counts.webhooks.of(*place, outcome).observe(perf_counter() - began_s)
        if len(tries) > 1:
            node, slot = place
            self._counts.webhook_retries.of(node)[slot] += 1


def place_of(request_id: str) -> tuple[str, str]:
    """Name the node and the slot of the call that a question is about."""
    slot, node = slot_and_node(call_of(request_id) or "") or ("", "")
    return node, str(slot)
