"""Calls that keep coming while a fault happens: the standard call, whose digits a webhook gets."""

import asyncio
from pathlib import Path

from msgspec import Struct

from tests.bench.ivr.load import DIGITS, Outcome, load
from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.pbx.asterisk import Pbx

MAX_CALL_MS = 12_000  # with a lost digit, and a handover or two
FIRST_MS, SECOND_MS = 1_000, 500


class ArrivalCounts(Struct, frozen=True):
    """How many came, failed, were told to the webhook twice, or lost digits on the way."""

    calls: int = 0
    failed: int = 0
    duplicated: int = 0
    missing_digits: int = 0


class Arrivals:
    """Standard calls at an even rate, half of them to each node."""

    def __init__(self, per_s: int, seconds: float, folder: Path) -> None:
        self.counts = ArrivalCounts()
        self._per_s = per_s
        self._seconds = seconds
        self._folder = folder
        self._number = ""
        self._hooks: WebhookServer | None = None

    async def add_route(self, lab: Lab, hooks: WebhookServer, sounds: MediaServer) -> None:
        """Have a number for them."""
        self._hooks = hooks
        hangup: dict[str, object] = {"type": "hangup", "data": {}}
        bye = _play(sounds.tone(440, SECOND_MS), hangup)
        told = hooks.answers("/standard", bye)
        gather: dict[str, object] = {"type": "gather", "data": {"maxDigits": 4}, "action": told}
        self._number = await lab.add_number(_play(sounds.tone(440, FIRST_MS), gather))

    async def run(self, nodes: list[Pbx]) -> None:
        """Let them come, and wait for the last one's end."""
        rate = self._per_s // len(nodes)
        outcomes = await asyncio.gather(*(self._call_node(node, rate) for node in nodes))
        failed = sum(each.failed + each.refused for each in outcomes)
        self.counts = ArrivalCounts(
            sum(each.calls for each in outcomes), failed, *self._webhook_counts()
        )

    async def _call_node(self, node: Pbx, rate: int) -> Outcome:
        return await load(
            node.sip_port, self._number, rate, self._seconds, self._folder, MAX_CALL_MS
        )

    def _webhook_counts(self) -> tuple[int, int]:
        asked = [] if self._hooks is None else self._hooks.requests_to("/standard")
        calls = [each.body["callId"] for each in asked]
        short = sum(each.body["dtmf"] != DIGITS for each in asked)
        return len(calls) - len(set(calls)), short


def _play(url: str, action: dict[str, object]) -> dict[str, object]:
    return {"type": "play", "data": {"audioUrl": url}, "action": action}
