"""Writers that change an account's flows over REST all the time, and what engines have of them."""

import asyncio
import itertools
import json
from http import HTTPStatus

import aiohttp

from tests.harness.servers.api import Api
from tests.harness.servers.engine import Engine, RequestError
from tests.harness.until import until

ACCOUNT, NUMBER = "chaos", "+15559999"
WRITERS = 8
SLACK_S = 10.0  # of a busy machine
COMPLETE_S = 5.0  # after the REST layer is ready again
RETRY_S = 0.05


class DocumentWriters:
    """Each changes one flow; a change that failed is repeated until the REST layer accepts it."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._is_done = False
        self.accepted = [0] * WRITERS  # the number of the last change of each writer
        self.repeated = 0

    async def run(self) -> None:
        """Write until `stop`; the last change of each writer has been accepted then."""
        await asyncio.gather(*map(self._write, range(WRITERS)))

    def stop(self) -> None:
        self._is_done = True

    async def wait_accepted(self, more: int) -> None:
        """Wait until each writer's changes have been accepted so often."""
        wanted = [each + more for each in self.accepted]

        def is_accepted() -> bool:
            return all(map(int.__ge__, self.accepted, wanted))

        await until(is_accepted, what=f"{more} changes of each flow")

    async def wait_complete(self, engine: Engine) -> None:
        """Wait until an engine has the last change of each flow."""

        async def is_complete() -> bool:
            found = [
                await engine.rpc("GET", f"/documents/{ACCOUNT}/flow/{_id(n)}")
                for n in range(WRITERS)
            ]
            wanted = map(_text, range(WRITERS), self.accepted)
            return all(text in json.dumps(flow) for text, flow in zip(wanted, found, strict=True))

        limit_s = COMPLETE_S + SLACK_S
        await until(is_complete, timeout_s=limit_s, what="the engines to have all documents")

    async def _write(self, writer: int) -> None:
        path = f"/srmain/voice/flows/{_id(writer)}"
        for number in itertools.count(1):
            flow = {"type": "say", "data": {"text": _text(writer, number)}}
            while not await self._is_accepted(path, flow):
                self.repeated += 1
                await asyncio.sleep(RETRY_S)
            self.accepted[writer] = number
            if self._is_done:
                return

    async def _is_accepted(self, path: str, flow: object) -> bool:
        try:
            await self._api.request("PUT", path, flow, token=self._api.api_key)
        except RequestError as refused:
            if refused.status != HTTPStatus.SERVICE_UNAVAILABLE:
                raise
            return False
        except (aiohttp.ClientError, TimeoutError):
            return False
        return True


def _id(writer: int) -> str:
    return f"flow-{writer}"


def _text(writer: int, number: int) -> str:
    return f"change {number} of writer {writer}."
