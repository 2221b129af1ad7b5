"""A rolling restart while a call is live: whichever engine has it, the other goes on with it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import aiohttp

from tests.harness.until import until

ENGINES: Mapping[str, int] = {"engine1": 8070, "engine2": 8071}


class RollingRestart:
    """Restarts each engine in turn; `run` is `docker compose …`, `session` has the token."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        run: Callable[..., Awaitable[None]],
        ports: Mapping[str, int] = ENGINES,
    ) -> None:
        self._session = session
        self._run = run
        self._ports = ports

    def url(self, engine: str) -> str:
        """Tell where an engine's RPC is."""
        return f"http://127.0.0.1:{self._ports[engine]}/rpc/v1"

    async def restart_each(self) -> None:
        """Stop and start each engine, once a call listens; it must listen on after each."""
        await until(self._is_listening, what="a live call")
        (before,) = await self.calls(next(iter(self._ports)))
        engines = list(self._ports)
        for engine, other in zip(engines, reversed(engines), strict=True):
            await self._run("stop", engine)
            await self._wait_for_call(other, before["callId"])
            await self._run("up", "--detach", "--no-deps", "--wait", engine)
            await self._wait_for_call(engine, before["callId"])

    async def is_idle(self) -> bool:
        """Tell whether no call is live."""
        return not await self.calls(next(iter(self._ports)))

    async def calls(self, engine: str) -> list[dict[str, Any]]:
        """List the live calls of all engines, as one of them tells."""
        async with self._session.get(f"{self.url(engine)}/calls") as reply:
            return list((await reply.json())["calls"])

    async def _is_listening(self) -> bool:
        found = await self.calls(next(iter(self._ports)))
        return [call["state"] for call in found] == ["gathering"]

    async def _wait_for_call(self, engine: str, call: str) -> None:
        async def is_so() -> bool:
            found = await self.calls(engine)
            return [(each["callId"], each["state"]) for each in found] == [(call, "gathering")]

        await until(is_so, what=f"{call} to go on, as {engine} tells it")
