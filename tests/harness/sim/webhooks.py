"""SimActionClient and SimApiSender: customers' servers that answer, fail, time out or are late."""

import random
from collections import Counter
from collections.abc import Callable

from engine.calls.flows.templates import Lookup
from engine.webhooks.action_client import ActionClient, ActionResponse
from engine.webhooks.api_sender import ApiResponse
from engine.webhooks.errors import WebhookFailed
from tests.harness.sim.clock import SimClock
from tests.harness.sim.loop import SimLoop
from wire.verbs import Action

QUICK_MS = 100
Offer = Callable[[], Action | None]


class SimServers:
    """Customers' servers: the requests they received and how they answer; they outlive engines."""

    def __init__(self, rng: random.Random, offer: Offer) -> None:
        self.bodies: dict[str, bytes] = {}
        self.at_ms: dict[str, list[float]] = {}
        self.takes_ms: dict[str, float] = {}  # until the last response
        self.violations: list[str] = []
        self.faults: Counter[str] = Counter()
        self._rng = rng
        self._offer = offer

    def receive(
        self, request_id: str, body: bytes, at_ms: float
    ) -> tuple[float, str, Action | None]:
        """Receive a request; return the delay in ms, the fault's name, and the action."""
        answer = self._answer(request_id, body, at_ms)
        self.takes_ms[request_id] = max(answer[0], self.takes_ms.get(request_id, 0))
        return answer

    def _answer(
        self, request_id: str, body: bytes, at_ms: float
    ) -> tuple[float, str, Action | None]:
        if self.bodies.setdefault(request_id, body) != body:
            self.violations.append(f"{request_id} was used for two bodies")
        self.at_ms.setdefault(request_id, []).append(at_ms)
        kind = self._rng.random()
        if kind < 0.06:
            self.faults["webhook timed out"] += 1
            return 15_000, "timeout", None
        if kind < 0.14:
            self.faults["webhook failed"] += 1
            return self._rng.uniform(5, 5_000), "status_500", None
        if kind < 0.18:
            self.faults["webhook late"] += 1
            return self._rng.uniform(14_000, 19_000), "", self._offer()
        return self._rng.choice((3, 40, 800)) * (0.5 + self._rng.random()), "", self._offer()


class SimActionClient(ActionClient):
    """The action client of one engine."""

    def __init__(self, clock: SimClock, loop: SimLoop, servers: SimServers) -> None:
        self._sim_clock = clock
        self._loop = loop
        self._servers = servers

    async def ask(
        self, account: str, url: str, body: bytes, request_id: str, sensitive: str = ""
    ) -> ActionResponse:
        """Request the next action; raises WebhookFailed."""
        del account, url, sensitive
        delay_ms, fault, action = self._servers.receive(request_id, body, self._sim_clock.at_ms)
        await self._loop.sleep(delay_ms)
        if fault:
            raise WebhookFailed(fault, "sim", ())
        return ActionResponse(action, ())


class SimApiSender:
    """Implements `engine.runtime.io.command_runner.ApiRequests` for one engine."""

    def __init__(self, clock: SimClock, loop: SimLoop, servers: SimServers) -> None:
        self._clock = clock
        self._loop = loop
        self._servers = servers

    async def ask(self, account: str, api: str, values: Lookup, key: str) -> ApiResponse:
        """Send a request whose body holds call data; raises WebhookFailed."""
        body = f"{account} {api} {values('digits')} {values('call.from')}".encode()
        delay_ms, fault, _ = self._servers.receive(key, body, self._clock.at_ms)
        await self._loop.sleep(delay_ms)
        if fault:
            raise WebhookFailed(fault, "sim", ())
        return ApiResponse(200, {"tier": "gold" if delay_ms < QUICK_MS else None}, ())
