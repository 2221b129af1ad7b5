"""Keeping a board of the live calls: by the event stream, at whichever engine answers."""

import asyncio
from collections.abc import Sequence
from typing import NoReturn

from engine.cli.client import Client
from engine.cli.errors import RpcError, Unreachable
from engine.cli.live.table import CallTable
from wire.events import CallEvent

RETRY_DELAY_S = 0.5
_FINAL = {"unauthorized", "http_404"}  # no other try will do


class CallFollower:
    """Follows the stream of the first engine that answers; then the next, from the same place."""

    def __init__(self, clients: Sequence[Client], account: str, board: CallTable) -> None:
        self._clients = clients
        self._account = account
        self._board = board
        self._last = ""  # id to go on from
        self._is_filled = False

    async def run(self) -> NoReturn:
        """Follow until cancelled; raises Unreachable or Refused when there never was an engine."""
        tries = 0
        while True:
            client = self._clients[tries % len(self._clients)]
            tries += 1
            try:
                await self._follow(client)
            except (Unreachable, RpcError) as error:
                self._check(error, tries)
            await asyncio.sleep(RETRY_DELAY_S)

    async def _follow(self, client: Client) -> None:
        async with client.events(self._last, self._account) as events:
            if not self._is_filled:
                await self._fill(client)
            self._board.note = ""
            async for entry, event in events:
                self._last = entry
                if isinstance(event, CallEvent):
                    self._board.apply(event)
                else:  # something was cut off: only a list is right again
                    await self._fill(client)

    async def _fill(self, client: Client) -> None:
        self._board.fill(await client.calls(self._account))
        self._is_filled = True

    def _check(self, error: Unreachable | RpcError, tries: int) -> None:
        is_hopeless = isinstance(error, RpcError) and error.problem.code in _FINAL
        if is_hopeless or (not self._is_filled and tries >= len(self._clients)):
            raise error
        if isinstance(error, RpcError) and error.problem.code == "invalid":
            self._last, self._is_filled = "", False  # a place of another cluster's stream
        self._board.note = f"{error}; trying again"
