"""Measures control requests: some calls are muted and unmuted continuously."""

import asyncio
import itertools
from collections import deque
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from http import HTTPStatus

import aiohttp
from msgspec import Struct

from tests.harness.monotonic import now_ms
from tests.harness.servers.engine import Engine, RequestError
from tests.harness.until import until

INTERVAL_S = 0.1
RETRY_DELAY_S = 0.05
OPERATIONS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("mute", {"direction": "in"}),
    ("unmute", {}),
)


class ControlledCall(Struct, frozen=True):
    """A call and its leg that is muted."""

    call: str
    leg: str


class ControlLoad:
    """Controls calls through one engine, and through the next if that is unreachable.

    Requests refused with 503 are retried until they succeed.
    """

    def __init__(self, engines: Sequence[Engine], calls: Sequence[ControlledCall]) -> None:
        self.refused: dict[str, str] = {}  # refused for good, which is a fault
        self._engines = deque(engines)
        self._calls = calls
        self._excluded: set[str] = set()
        self._done: list[tuple[str, float, float]] = []

    async def run(self) -> None:
        """Send requests until cancelled."""
        await asyncio.gather(*map(self._control, self._calls))

    @property
    def calls(self) -> AbstractSet[str]:
        """Return the ids of the controlled calls."""
        return {each.call for each in self._calls}

    def exclude(self, calls: AbstractSet[str]) -> None:
        """Send no more requests for these calls."""
        self._excluded |= calls

    def longest_ms(self, since_ms: float) -> float:
        """Return the longest wait of a request since a time."""
        waits = (done - max(requested_ms, since_ms) for _, requested_ms, done in self._done)
        return max(waits, default=0.0)

    async def wait_for_control(self, since_ms: float, timeout_s: float = 30) -> None:
        """Wait until every call has executed a request that was sent after a time."""
        controlled = self.calls - self._excluded

        def is_controlled() -> bool:
            done = {call for call, requested_ms, _ in self._done if requested_ms >= since_ms}
            return controlled <= done | self.refused.keys()

        await until(is_controlled, timeout_s=timeout_s, what="control of all calls")

    async def _control(self, controlled: ControlledCall) -> None:
        operations = itertools.cycle(OPERATIONS)
        requested_ms, (operation, more) = now_ms(), next(operations)
        while controlled.call not in self.refused.keys() | self._excluded:
            if await self._is_done(controlled, operation, more):
                self._done.append((controlled.call, requested_ms, now_ms()))
                await asyncio.sleep(INTERVAL_S)
                requested_ms, (operation, more) = now_ms(), next(operations)
            else:
                await asyncio.sleep(RETRY_DELAY_S)

    async def _is_done(
        self, controlled: ControlledCall, operation: str, more: Mapping[str, str]
    ) -> bool:
        engine, body = self._engines[0], {"channelId": controlled.leg, **more}
        try:
            await engine.rpc("POST", f"/calls/{controlled.call}/{operation}", body)
        except aiohttp.ClientError:
            if engine is self._engines[0]:
                self._engines.rotate()
            return False
        except RequestError as refused:
            if refused.status != HTTPStatus.SERVICE_UNAVAILABLE:
                self.refused[controlled.call] = str(refused)
            return False
        return True
