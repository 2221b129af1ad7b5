"""The clients, nodes and folders that the demo's scenarios share."""

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
from msgspec import Struct
from rich.console import Console

from cli.calls import change_call, get_call
from cli.commands.call import watch_call
from cli.errors import RequestRejected
from cli.rest_client import RestClient
from cli.timeline import screen
from dev.pbx.node import PbxNode
from tests.harness.monotonic import now_ms
from tests.harness.phones.phone import Phone
from tests.harness.until import until
from tools.demo.rest import Rest
from wire.views import Timeline


class Engine(Struct, frozen=True):
    """What the checks of the demo read from an engine: customers do not see it."""

    url: str
    token: str

    async def timeline(self, call_id: str) -> Timeline:
        """Return the timeline of a call with the lengths of its audio."""
        login = {"Authorization": f"Bearer {self.token}"}
        async with (
            aiohttp.ClientSession(headers=login) as http,
            http.get(f"{self.url}/rpc/v1/calls/{call_id}/timeline") as reply,
        ):
            return msgspec.json.decode(await reply.read(), type=Timeline)


class DemoContext(Struct, frozen=True):
    """What each scenario gets."""

    client: RestClient
    rest: Rest
    engine: Engine
    number: str  # of the lab's account
    pbxs: Mapping[str, PbxNode]
    trunk_port: int
    out: Path
    console: Console

    @property
    def pbx(self) -> PbxNode:
        """The node that phones call."""
        return self.pbxs["pbx1"]

    async def send(self, method: str, path: str, body: object) -> Any:
        """Send a request to the engine; return what it answers."""
        return await self.client.request(dict, method, *path.split("/")[1:], body=body)

    async def run_call(self, call_id: str, script: Coroutine[Any, Any, None]) -> Timeline:
        """Show a call live while a script runs its phones; a timeout ends the call."""
        watching = asyncio.create_task(watch_call(self.client, call_id, self.console))
        try:
            await script
        except TimeoutError as error:
            self.console.print(f"timeout: {error}", style="bold red")
            with suppress(RequestRejected):
                await change_call(self.client, call_id, "hangup", {})
        await watching
        return await self.engine.timeline(call_id)

    @asynccontextmanager
    async def routed(self, action: object) -> AsyncIterator[None]:
        """Let calls to the number run an action; then they run what they did before."""
        path = ("voice", "numbers", self.number)
        before = (await self.client.request(dict[str, Any], "GET", *path)).get("route")
        body = {"action": action}
        await self.client.request(dict[str, Any], "PUT", *path, "route", body=body)
        try:
            yield
        finally:
            method = "PUT" if before else "DELETE"
            await self.client.request(dict[str, Any], method, *path, "route", body=before)

    async def live_calls(self) -> set[str]:
        """Return the ids of the live calls."""
        return {str(each["callId"]) async for each in self.client.rows("voice", "calls")}

    def save(self, name: str, timeline: Timeline, phones: Mapping[str, Phone]) -> None:
        """Save the timeline as text and JSON, and the audio of each phone."""
        with (self.out / f"{name}.txt").open("w") as text:
            screen.print_timeline(timeline, Console(file=text, width=screen.MAX_WIDTH))
        plain = msgspec.json.format(msgspec.json.encode(timeline))
        (self.out / f"{name}.json").write_bytes(plain + b"\n")
        for party, phone in phones.items():
            phone.write_wav(self.out / f"{name}-{party}-heard.wav")

    async def wait_for_state(self, call_id: str, state: str) -> None:
        """Wait for a state of a call, such as playing, gathering, dialing or bridged."""

        async def has_state() -> bool:
            return (await get_call(self.client, call_id)).state == state

        await until(has_state, timeout_s=30, every_s=0.05, what=f"the call to be {state}")

    async def wait_for_call(self, existing: set[str]) -> str:
        """Wait for a live call that is not in `existing` and return its id."""
        found: list[str] = []

        async def is_there() -> bool:
            found[:] = await self.live_calls() - existing
            return bool(found)

        await until(is_there, what="the call to come in")
        return found[0]

    async def channels_left(self, call_id: str) -> list[str]:
        """Wait up to 3 s for the call's channels and bridges to end; returns those left."""
        left: list[str] = []
        pbx = self.pbxs[call_id.split("-")[1]]

        async def is_empty() -> bool:
            shown = [*await _ari(pbx, "channels"), *await _ari(pbx, "bridges")]
            left[:] = [each["id"] for each in shown if each["id"].startswith(call_id)]
            return not left

        with suppress(TimeoutError):
            await until(is_empty, timeout_s=3, what="the PBX to be empty")
        return left


def phone_ms(wall_ms: float) -> float:
    """Convert wall-clock milliseconds to the monotonic time of phones."""
    return wall_ms - time.time() * 1000 + now_ms()


async def _ari(pbx: PbxNode, path: str) -> Any:
    login = aiohttp.encode_basic_auth(pbx.ari_user, pbx.ari_password)
    async with (
        aiohttp.ClientSession(headers={"Authorization": login}) as http,
        http.get(f"{pbx.url}/ari/{path}") as reply,
    ):
        return await reply.json()
