"""Whether a PBX can be reached: it is asked every moment, over a connection of its own.

Not over the events' websockets, which an engine has for its slots only; nor in the pool of the
other requests, where it would wait behind those that block.
"""

import asyncio
from collections.abc import Callable
from http import HTTPStatus

import aiohttp
from aiohttp import ClientSession, ClientTimeout

from engine.ari.config import Pbx
from engine.ari.generated.operations import asterisk


class Pulse:
    """Tells `note` after each question whether it was answered in time."""

    def __init__(self, pbx: Pbx, note: Callable[[bool], None]) -> None:
        self._pbx = pbx
        self._note = note

    async def run(self) -> None:
        """Ask until cancelled."""
        patience, headers = self._pbx.patience, self._pbx.address.headers
        timeout = ClientTimeout(total=patience.pulse_answer_s)
        async with ClientSession(headers=headers, timeout=timeout) as http:
            while True:
                next_s = self._pbx.clock() + patience.pulse_s
                self._note(await self._is_answered(http))
                await asyncio.sleep(next_s - self._pbx.clock())

    async def _is_answered(self, http: ClientSession) -> bool:
        try:
            async with http.get(self._pbx.at(asterisk.ping().uri)) as answer:
                return answer.status == HTTPStatus.OK
        except (aiohttp.ClientError, OSError, TimeoutError):
            return False
