"""The endpoints configured at one node, registered or not, except the trunk's; polled."""

import asyncio
from collections.abc import Callable

import msgspec
import structlog

from engine.ari.generated.models import Endpoint
from engine.ari.generated.operations import endpoints
from engine.runtime.agents.registered_endpoints import RETRY_DELAY_S, TECHNOLOGY
from engine.runtime.base.interfaces import Pbx
from engine.runtime.pbx.snapshot import PbxUnavailable, query

log = structlog.get_logger()
POLL_INTERVAL_S = 30.0
_decoder = msgspec.json.Decoder(list[Endpoint])


class ConfiguredEndpoints:
    """A node's endpoints as of the last poll."""

    def __init__(
        self, pbx: Pbx, is_trunk: Callable[[str], bool], interval_s: float = POLL_INTERVAL_S
    ) -> None:
        self._pbx = pbx
        self._is_trunk = is_trunk
        self._interval_s = interval_s
        self._names: frozenset[str] = frozenset()

    @property
    def is_read(self) -> bool:
        """Whether the node has answered a poll."""
        return bool(self._names)

    def knows(self, endpoint: str) -> bool:
        return endpoint in self._names

    async def run(self) -> None:
        """Poll until cancelled; the last list is kept while the node does not answer."""
        while True:
            pause_s = self._interval_s
            try:
                found = await query(self._pbx, endpoints.list_by_tech(TECHNOLOGY), _decoder)
                names = {f"{each.technology}/{each.resource}" for each in found}
                self._names = frozenset(each for each in names if not self._is_trunk(each))
            except PbxUnavailable as error:
                log.debug("endpoints not read", error=str(error))
                pause_s = RETRY_DELAY_S
            await asyncio.sleep(pause_s)
