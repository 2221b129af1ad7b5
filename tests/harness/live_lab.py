"""The servers of the live tests, with the helpers that most of these tests need."""

import itertools
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self

import aiohttp

from tests.harness.pbx.asterisk import Pbx
from tests.harness.pbx.tls_node import TlsPbx
from tests.harness.ports import free_port
from tests.harness.servers.engine import Engine, RequestError
from tests.harness.servers.speech_process import SpeechProcess
from tests.harness.servers.stream_gateway import StreamGateway
from tests.harness.servers.tls_files import TlsFiles
from tests.harness.servers.valkey import Valkey
from tests.harness.until import MAX_WAIT_S, until

_numbers = itertools.count(1000)  # unique, because an engine caches a route for a moment


class Lab:
    """A PBX, a Valkey and an engine; `trunk_port` is where the PBX sends calls to numbers."""

    def __init__(
        self,
        valkey: Valkey,
        pbx: Pbx,
        engine: Engine,
        trunk_port: int,
        beside: Sequence[StreamGateway | SpeechProcess] = (),
    ) -> None:
        self.valkey = valkey
        self.pbx = pbx
        self.engine = engine
        self.trunk_port = trunk_port
        self.gateways = tuple(each for each in beside if isinstance(each, StreamGateway))
        self.speech = next((each for each in beside if isinstance(each, SpeechProcess)), None)
        self._beside = tuple(beside)  # the PBX

    async def ensure_running(self) -> None:
        """Start servers that do not run and wait until the engine is ready."""
        for server in (self.valkey, self.pbx, *self._beside, self.engine):
            if not server.running():
                await server.start()
        await until(self.engine.is_ready, what="the engine to be ready")

    async def stop(self) -> None:
        for server in (self.engine, *reversed(self._beside), self.pbx, self.valkey):
            await server.stop()

    @asynccontextmanager
    async def in_use(self) -> AsyncIterator[Self]:
        """Let a test use it; raises TimeoutError if a channel or a bridge is left afterwards."""
        await self.ensure_running()
        yield self
        await self.ensure_running()
        try:
            await self.wait_empty()
        except TimeoutError:
            await self.pbx.kill()  # the next test starts with an empty one
            raise

    async def call(self, **request: object) -> str:
        """Start a call from +15550001 unless `from` is given; returns its id."""
        return await self.engine.originate(**{"from": "+15550001", **request})

    async def wait_ended(self, call: str, timeout_s: float = MAX_WAIT_S) -> dict[str, Any]:
        """Wait until a call has ended and return its view."""
        view: dict[str, Any] = {}

        async def has_ended() -> bool:
            view.update(await self._view(call))
            return view.get("state") == "ended"

        await until(has_ended, timeout_s=timeout_s, what=f"{call} to end")
        return view

    async def wait_for_state(self, call: str, state: str, timeout_s: float = MAX_WAIT_S) -> None:
        """Wait for a state of a call, such as playing, gathering, dialing or bridged."""

        async def has_state() -> bool:
            return bool((await self._view(call)).get("state") == state)

        await until(has_state, timeout_s=timeout_s, what=f"{call} to be {state}")

    async def wait_for_call(self, timeout_s: float = MAX_WAIT_S) -> str:
        """Wait until exactly one call is live and return its id."""
        found: list[str] = []

        async def is_there() -> bool:
            calls = (await self.engine.rpc("GET", "/calls"))["calls"]
            found[:] = [call["callId"] for call in calls]
            return len(found) == 1

        await until(is_there, timeout_s=timeout_s, what="one live call")
        return found[0]

    async def wait_for_event(self, call: str, kind: str, times: int = 1) -> None:
        """Wait until a call has received so many events of a kind."""

        async def has_received() -> bool:
            kinds = [each["type"] for each in await self.timeline_events(call)]
            return kinds.count(kind) >= times

        await until(has_received, what=f"{times} {kind} in {call}")

    async def timeline_events(self, call: str) -> list[dict[str, Any]]:
        """Return the events and commands that have rows in a call's timeline, in order."""
        timeline = await self.engine.rpc("GET", f"/calls/{call}/timeline")
        return [row["details"] for row in timeline["rows"] if "type" in row.get("details", {})]

    async def add_number(self, action: object, **more: object) -> str:
        """Route a new number to an action and return the number."""
        number = f"1555{next(_numbers):04}"
        route = {"account": "acme", "action": action, **more}
        # Not among the account's documents: a REST layer that has the account would delete it.
        await self.engine.documents.put("lab", "route", number, route)
        return number

    async def wait_empty(self, timeout_s: float = MAX_WAIT_S) -> None:
        """Wait until no live call, no channel and no bridge is left."""
        await until(self._is_empty, timeout_s=timeout_s, what="the PBX to be empty")

    async def _view(self, call: str) -> dict[str, Any]:
        """Return the view of a call; an empty one while an engine takes the call over."""
        try:
            return await self.engine.call(call)
        except RequestError as refused:
            if refused.status != HTTPStatus.SERVICE_UNAVAILABLE:
                raise
            return {}

    async def _is_empty(self) -> bool:
        calls = (await self.engine.rpc("GET", "/calls"))["calls"]
        return [calls, await self.ari("channels"), await self.ari("bridges")] == [[], [], []]

    async def ari(self, path: str) -> Any:
        """Return the JSON that ARI answers for a path."""
        login = aiohttp.encode_basic_auth(self.pbx.ari_user, self.pbx.ari_password)
        async with (
            aiohttp.ClientSession(headers={"Authorization": login}) as session,
            session.get(f"{self.pbx.url}/ari/{path}", ssl=self.pbx.trust) as reply,
        ):
            return await reply.json()


@asynccontextmanager
async def open_lab(  # noqa: PLR0913 - a test names only what it varies
    folder: Path,
    *,
    trunk_host: str = "127.0.0.1",
    engine_settings: Mapping[str, str] | None = None,
    tls: TlsFiles | None = None,
    gateways: int = 0,
    gateway_settings: Mapping[str, str] | None = None,
    has_speech: bool = False,
    speech_settings: Mapping[str, str] | None = None,
    pbx_type: type[Pbx] = Pbx,
    **pbx_options: Any,
) -> AsyncIterator[Lab]:
    """Run servers of their own; `pbx_options` are those of `Pbx`. With `tls` its ARI has TLS.

    `gateways` is the number of stream gateways beside the PBX, of these `gateway_settings`; with
    `has_speech` they know recognizers, of these `speech_settings`.
    """
    trunk_port = free_port()
    trunk = f"sip:{trunk_host}:{trunk_port}"
    valkey = Valkey(folder / "valkey")
    settings: dict[str, str] = dict(engine_settings or {})
    node_options: dict[str, dict[str, object]] = {}
    streams_token = secrets.token_hex(16)
    speech = SpeechProcess(folder / "speech", **(speech_settings or {})) if has_speech else None
    beside = [
        StreamGateway(folder / f"streams{each}", streams_token, speech, **(gateway_settings or {}))
        for each in range(gateways)
    ]
    if tls is None:
        pbx = pbx_type(folder / "pbx1", trunk=trunk, **pbx_options)
    else:
        pbx = TlsPbx(folder / "pbx1", tls, trunk=trunk, **pbx_options)
        settings["SWITCHROOM_TLS_CA"] = str(tls.ca)
        node_options[pbx.name] = {"url": pbx.url, "ami_tls": True}
    if beside:
        settings["SWITCHROOM_STREAMS_TOKEN"] = streams_token
        urls = {"stream_gateways": [each.url for each in beside]}
        node_options[pbx.name] = node_options.get(pbx.name, {}) | urls
    engine = Engine(
        folder / "engine",
        valkey=valkey,
        nodes=[pbx],
        settings=settings,
        node_options=node_options,
    )
    lab = Lab(valkey, pbx, engine, trunk_port, [*([speech] if speech else ()), *beside])
    try:
        await lab.ensure_running()
        yield lab
    finally:
        await lab.stop()
