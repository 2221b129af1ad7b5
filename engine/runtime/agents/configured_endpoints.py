"""The endpoints configured at one node, registered or not, except the trunk's.

The node's supervisor polls them, and the other engines learn them from it (`phone_logins.py`).
"""

import asyncio
from collections.abc import Callable, Iterable

import msgspec
import structlog

from engine.ari.generated.models import Endpoint
from engine.ari.generated.operations import endpoints
from engine.runtime.agents.registered_endpoints import RETRY_DELAY_S
from engine.runtime.base.interfaces import Pbx
from engine.runtime.pbx.snapshot import PbxUnavailable, query
from wire.agents import TECHNOLOGY

log = structlog.get_logger()
POLL_INTERVAL_S = 30.0
_decoder = msgspec.json.Decoder(list[Endpoint])


def _ignore_change() -> None:
    pass


class ConfiguredEndpoints:
    """A node's endpoints as of the last poll; `is_polled` once this engine has done that itself."""

    def __init__(
        self,
        pbx: Pbx,
        is_trunk: Callable[[str], bool],
        interval_s: float = POLL_INTERVAL_S,
        on_change: Callable[[], None] = _ignore_change,
    ) -> None:
        self.is_polled = False
        self.names: frozenset[str] = frozenset()
        self._on_change = on_change
        self._pbx = pbx
        self._is_trunk = is_trunk
        self._interval_s = interval_s

    @property
    def is_read(self) -> bool:
        """Whether the node has answered a poll."""
        return bool(self.names)

    def knows(self, endpoint: str) -> bool:
        return endpoint in self.names

    def learn(self, names: Iterable[str]) -> None:
        """Take what another engine has polled."""
        if not self.is_polled:
            self.names = frozenset(names)

    async def run(self) -> None:
        """Poll until cancelled; the last list is kept while the node does not answer."""
        try:
            await self._poll()
        finally:
            self.is_polled = False
            self._on_change()

    async def _poll(self) -> None:
        while True:
            pause_s = self._interval_s
            try:
                found = await query(self._pbx, endpoints.list_by_tech(TECHNOLOGY), _decoder)
                listed = {f"{each.technology}/{each.resource}" for each in found}
                names = frozenset(each for each in listed if not self._is_trunk(each))
                is_changed = names != self.names or not self.is_polled
                self.is_polled, self.names = True, names
                if is_changed:
                    self._on_change()
            except PbxUnavailable as error:
                log.debug("endpoints not read", error=str(error))
                pause_s = RETRY_DELAY_S
            await asyncio.sleep(pause_s)
