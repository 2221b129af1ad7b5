"""New calls during a fault: standard calls, whose digits go to a webhook."""

import asyncio
from pathlib import Path

from msgspec import Struct

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.pbx.asterisk import Pbx
from tools.bench.ivr.load import DIGITS, Outcome, load

MAX_CALL_MS = 12_000  # includes a lost digit and two handovers
FIRST_MS, SECOND_MS = 1_000, 500


class ArrivalCounts(Struct, frozen=True):
    """Numbers of calls: all, failed, reported twice to the webhook, with missing digits."""

    calls: int = 0
    failed: int = 0
    duplicated: int = 0
    missing_digits: int = 0


class Arrivals:
    """Standard calls at an even rate, spread over the nodes."""

    def __init__(self, per_s: int, seconds: float, folder: Path) -> None:
        self.counts = ArrivalCounts()
        self._per_s = per_s
        self._seconds = seconds
        self._folder = folder
        self._number = ""
        self._hooks: WebhookServer | None = None

    async def add_route(self, lab: Lab, hooks: WebhookServer, sounds: MediaServer) -> None:
        """Route a number to the standard call."""
        self._hooks = hooks
        hangup: dict[str, object] = {"type": "hangup", "data": {}}
        bye = _play(sounds.tone(440, SECOND_MS), hangup)
        webhook = hooks.answers("/standard", bye)
        gather: dict[str, object] = {"type": "gather", "data": {"maxDigits": 4}, "action": webhook}
        self._number = await lab.add_number(_play(sounds.tone(440, FIRST_MS), gather))

    async def run(self, nodes: list[Pbx]) -> None:
        """Place the calls and wait until all have ended."""
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
        requests = [] if self._hooks is None else self._hooks.requests_to("/standard")
        calls = [each.body["callId"] for each in requests]
        missing_digits = sum(each.body["dtmf"] != DIGITS for each in requests)
        return len(calls) - len(set(calls)), missing_digits


def _play(url: str, action: dict[str, object]) -> dict[str, object]:
    return {"type": "play", "data": {"audioUrl": url}, "action": action}
