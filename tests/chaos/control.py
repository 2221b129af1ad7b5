"""How long a control command waits: some calls are muted and unmuted all the time, in turn."""

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
    """A call, and the leg of it that is muted."""

    call: str
    leg: str


class ControlLoad:
    """Steers calls through one engine, and through the next when that can't be reached.

    What is refused for now is asked again until it is done.
    """

    def __init__(self, engines: Sequence[Engine], calls: Sequence[ControlledCall]) -> None:
        self.refused: dict[str, str] = {}  # for good: what should not be
        self._engines = deque(engines)
        self._calls = calls
        self._excluded: set[str] = set()
        self._done: list[tuple[str, float, float]] = []

    async def run(self) -> None:
        """Steer until cancelled."""
        await asyncio.gather(*map(self._control, self._calls))

    @property
    def calls(self) -> AbstractSet[str]:
        """Name what is steered."""
        return {each.call for each in self._calls}

    def exclude(self, calls: AbstractSet[str]) -> None:
        """Steer these no more."""
        self._excluded |= calls

    def longest_ms(self, since_ms: float) -> float:
        """Tell how long a command waited at most, from that moment on."""
        waits = (done - max(asked, since_ms) for _, asked, done in self._done)
        return max(waits, default=0.0)

    async def wait_for_control(self, since_ms: float, timeout_s: float = 30) -> None:
        """Wait until every call has done what was asked after that moment."""
        steered = self.calls - self._excluded

        def is_so() -> bool:
            done = {call for call, asked, _ in self._done if asked >= since_ms}
            return steered <= done | self.refused.keys()

        await until(is_so, timeout_s=timeout_s, what="all calls to be steered")

    async def _control(self, steered: ControlledCall) -> None:
        deeds = itertools.cycle(OPERATIONS)
        asked_ms, (deed, more) = now_ms(), next(deeds)
        while steered.call not in self.refused.keys() | self._excluded:
            if await self._is_done(steered, deed, more):
                self._done.append((steered.call, asked_ms, now_ms()))
                await asyncio.sleep(INTERVAL_S)
                asked_ms, (deed, more) = now_ms(), next(deeds)
            else:
                await asyncio.sleep(RETRY_DELAY_S)

    async def _is_done(self, steered: ControlledCall, deed: str, more: Mapping[str, str]) -> bool:
        asked, body = self._engines[0], {"channelId": steered.leg, **more}
        try:
            await asked.rpc("POST", f"/calls/{steered.call}/{deed}", body)
        except aiohttp.ClientError:
            if asked is self._engines[0]:
                self._engines.rotate()
            return False
        except RequestError as refused:
            if refused.status != HTTPStatus.SERVICE_UNAVAILABLE:
                self.refused[steered.call] = str(refused)
            return False
        return True
