"""Which endpoints but the trunk's there are at one node, registered or not, looked up at times."""

import asyncio
from collections.abc import Callable

import msgspec
import structlog

from engine.ari.generated.models import Endpoint
from engine.ari.generated.operations import endpoints
from engine.runtime.agents.presence import RETRY_DELAY_S, TECHNOLOGY
from engine.runtime.base.ports import Pbx
from engine.runtime.pbx.snapshot import PbxUnavailable, query

log = structlog.get_logger()
POLL_INTERVAL_S = 30.0
_endpoints = msgspec.json.Decoder(list[Endpoint])


class EndpointList:
    """What a node has configured, as last seen; `run` looks."""

    def __init__(
        self, pbx: Pbx, is_trunk: Callable[[str], bool], period_s: float = POLL_INTERVAL_S
    ) -> None:
        self._pbx = pbx
        self._is_trunk = is_trunk
        self._period_s = period_s
        self._names: frozenset[str] = frozenset()

    def knows(self, endpoint: str) -> bool:
        """Tell whether there is such an endpoint."""
        return endpoint in self._names

    async def run(self) -> None:
        """Look until cancelled; what was seen counts while the node does not answer."""
        while True:
            pause_s = self._period_s
            try:
                found = await query(self._pbx, endpoints.list_by_tech(TECHNOLOGY), _endpoints)
                names = {f"{each.technology}/{each.resource}" for each in found}
                self._names = frozenset(each for each in names if not self._is_trunk(each))
            except PbxUnavailable as error:
                log.debug("endpoints not seen", error=str(error))
                pause_s = RETRY_DELAY_S
            await asyncio.sleep(pause_s)
