"""Keeps the table of live calls current with the event stream of any engine."""

import asyncio
from collections.abc import Sequence
from typing import NoReturn

from cli.client import Client
from cli.errors import RpcError, Unreachable
from cli.live.table import CallTable
from wire.events.call_events import CallEvent

RETRY_DELAY_S = 0.5
_FINAL = {"unauthenticated", "not_found"}  # retrying does not help


class CallFollower:
    """Follows the event stream of one engine; after a failure, of the next from the same id."""

    def __init__(self, clients: Sequence[Client], account: str, table: CallTable) -> None:
        self._clients = clients
        self._account = account
        self._table = table
        self._last = ""  # id to resume from
        self._is_filled = False

    async def run(self) -> NoReturn:
        """Follow until cancelled; raises Unreachable or RpcError if no engine ever answered."""
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
            self._table.note = ""
            async for entry, event in events:
                self._last = entry
                if isinstance(event, CallEvent):
                    self._table.apply(event)
                else:  # events were lost: list the calls again
                    await self._fill(client)

    async def _fill(self, client: Client) -> None:
        self._table.fill(await client.calls(self._account))
        self._is_filled = True

    def _check(self, error: Unreachable | RpcError, tries: int) -> None:
        is_final = isinstance(error, RpcError) and error.problem.code in _FINAL
        if is_final or (not self._is_filled and tries >= len(self._clients)):
            raise error
        if isinstance(error, RpcError) and error.problem.code == "invalid":
            self._last, self._is_filled = "", False  # the id is of another cluster's stream
        self._table.note = f"{error}; retrying"
