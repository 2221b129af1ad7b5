"""A rolling restart of the engines during a live call, which the other engine takes over."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import aiohttp

from tests.harness.until import until


class RollingRestart:
    """Restarts each engine in turn; `run` is `docker compose …`, `session` sends the token.

    `urls` has the address of each engine.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        run: Callable[..., Awaitable[None]],
        urls: Mapping[str, str],
    ) -> None:
        self._session = session
        self._run = run
        self._urls = urls

    def url(self, engine: str) -> str:
        """Return the RPC address of an engine."""
        return f"{self._urls[engine]}/rpc/v1"

    async def restart_each(self) -> None:
        """Restart each engine while a call gathers; the call must still gather after each."""
        await until(self._is_listening, what="a live call")
        (before,) = await self.calls(next(iter(self._urls)))
        engines = list(self._urls)
        for engine, other in zip(engines, reversed(engines), strict=True):
            await self._run("stop", engine)
            await self._wait_for_call(other, before["callId"])
            await self._run("up", "--detach", "--no-deps", "--wait", engine)
            await self._wait_for_call(engine, before["callId"])

    async def is_idle(self) -> bool:
        """Return whether no call is live."""
        return not await self.calls(next(iter(self._urls)))

    async def calls(self, engine: str) -> list[dict[str, Any]]:
        """Return the live calls of all engines, as one engine lists them."""
        async with self._session.get(f"{self.url(engine)}/calls") as reply:
            return list((await reply.json())["calls"])

    async def _is_listening(self) -> bool:
        found = await self.calls(next(iter(self._urls)))
        return [call["state"] for call in found] == ["gathering"]

    async def _wait_for_call(self, engine: str, call: str) -> None:
        async def is_gathering() -> bool:
            found = await self.calls(engine)
            return [(each["callId"], each["state"]) for each in found] == [(call, "gathering")]

        await until(is_gathering, what=f"{call} to gather, as listed by {engine}")
