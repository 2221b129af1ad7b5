"""An engine's RPC as methods: one a request; what comes back is checked by the shapes of `wire`."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import quote

import aiohttp
import msgspec

from engine.cli.errors import NotFound, RpcError, Unreachable, error_text
from engine.cli.sse import EventStream, read_events
from wire import rpc
from wire.agents import Agents, AgentView
from wire.control import ConferenceView
from wire.replay import EndedCalls, Replay
from wire.views import Calls, CallView, Timeline

T = TypeVar("T")
RESPONSE_TIMEOUT_S = 15.0
CONNECT_TIMEOUT_S = 3.0
FIRST_ERROR_STATUS = 400
STREAM_TIMEOUT_S = 30.0  # the stream sends something every second, if only a comment


class Client:
    """The requests; each raises Refused or Unreachable."""

    def __init__(self, http: aiohttp.ClientSession, url: str) -> None:
        self.url = url
        self._http = http

    async def request(
        self,
        shape: type[T],
        method: str,
        path: str,
        body: Any = None,
        query: Mapping[str, str] | None = None,
    ) -> T:
        """Ask one thing, by its path below /rpc/v1."""
        data = None if body is None else json.dumps(body).encode()
        try:
            async with self._http.request(
                method, f"{self.url}/rpc/v1{path}", data=data, params=query
            ) as reply:
                answer, status = await reply.read(), reply.status
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Unreachable(self.url, error_text(error)) from None
        if status >= FIRST_ERROR_STATUS:
            raise RpcError(self._problem(status, answer))
        return self._decoded(answer, shape)

    async def originate(self, body: Mapping[str, Any]) -> str:
        """Start a call; returns its id."""
        return (await self.request(rpc.Started, "POST", "/calls", dict(body))).call_id

    async def call(self, call_id: str) -> CallView:
        """Show a call."""
        return await self.request(CallView, "GET", path_of("calls", call_id))

    async def calls(self, account: str = "") -> tuple[CallView, ...]:
        """List the live calls, of one account if named."""
        query = {"account": account} if account else {}
        return (await self.request(Calls, "GET", "/calls", query=query)).calls

    async def control(self, shape: type[T], call_id: str, deed: str, body: Mapping[str, Any]) -> T:
        """Ask something of a live call, by the deed's path below the call's."""
        return await self.request(shape, "POST", f"{path_of('calls', call_id)}/{deed}", dict(body))

    async def conference(self, call_id: str) -> ConferenceView:
        """Show a call's live conference, or the last."""
        return await self.request(
            ConferenceView, "GET", path_of("calls", call_id, "conference", "members")
        )

    async def timeline(self, call_id: str) -> Timeline:
        """Tell a call's story."""
        return await self.request(Timeline, "GET", path_of("calls", call_id, "timeline"))

    async def replay(self, call_id: str) -> Replay:
        """Audit a call."""
        return await self.request(Replay, "GET", path_of("calls", call_id, "replay"))

    async def ended(self, most: int) -> tuple[str, ...]:
        """Name the calls that ended last."""
        query = {"limit": str(most)}
        return (await self.request(EndedCalls, "GET", "/calls/ended", query=query)).call_ids

    async def nodes(self) -> tuple[rpc.NodeView, ...]:
        """List the PBX nodes."""
        return (await self.request(rpc.Nodes, "GET", "/nodes")).nodes

    async def drain(self, node: str) -> None:
        """Give a node no new call."""
        await self.request(rpc.NodeView, "POST", path_of("nodes", node, "drain"))

    async def undrain(self, node: str) -> None:
        """Give a node new calls again."""
        await self.request(rpc.NodeView, "POST", path_of("nodes", node, "undrain"))

    async def routes(self) -> dict[str, rpc.NumberRoute]:
        """List the routes by number."""
        return await self.request(dict[str, rpc.NumberRoute], "GET", "/routes")

    async def put_route(self, number: str, body: Mapping[str, Any]) -> None:
        """Say what calls to a number run."""
        await self.request(rpc.NumberRoute, "PUT", path_of("routes", number), dict(body))

    async def delete_route(self, number: str) -> None:
        """Take a route away."""
        await self.remove("route", number, path_of("routes", number))

    async def agents(self, account: str) -> tuple[AgentView, ...]:
        """List the agents of an account."""
        return (await self.request(Agents, "GET", "/agents", query={"account": account})).agents

    async def put_agent(self, account: str, agent_id: str, body: Mapping[str, Any]) -> None:
        """Say where an agent is called."""
        await self.request(AgentView, "PUT", path_of("agents", account, agent_id), dict(body))

    async def delete_agent(self, account: str, agent_id: str) -> None:
        """Take an agent out of the directory."""
        await self.remove("agent", agent_id, path_of("agents", account, agent_id))

    async def remove(self, kind: str, name: str, path: str) -> None:
        """Take something away by its path; raises Missing."""
        try:
            await self.request(dict[str, Any], "DELETE", path)
        except RpcError as error:
            if error.problem.code == "not_found":
                raise NotFound(kind, name) from None
            raise

    @asynccontextmanager
    async def events(self, last_id: str = "", account: str = "") -> AsyncIterator[EventStream]:
        """Follow what calls tell, from now or from an id on; of one account if named."""
        headers = {"Last-Event-ID": last_id} if last_id else {}
        query = {"account": account} if account else {}
        limit = aiohttp.ClientTimeout(
            total=None, connect=CONNECT_TIMEOUT_S, sock_read=STREAM_TIMEOUT_S
        )
        try:
            async with self._http.get(
                f"{self.url}/rpc/v1/events", headers=headers, params=query, timeout=limit
            ) as reply:
                if reply.status >= FIRST_ERROR_STATUS:
                    raise RpcError(self._problem(reply.status, await reply.read()))
                yield read_events(reply.content)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Unreachable(self.url, error_text(error)) from None

    def _problem(self, status: int, answer: bytes) -> rpc.Problem:
        try:
            return msgspec.json.decode(answer, type=rpc.Problem)
        except msgspec.DecodeError:
            why = f"something else does (HTTP {status})"
            raise Unreachable(self.url, why) from None

    def _decoded(self, answer: bytes, shape: type[T]) -> T:
        try:
            return msgspec.json.decode(answer, type=shape)
        except msgspec.DecodeError as error:
            raise Unreachable(self.url, f"its answer is not understood ({error})") from None


@asynccontextmanager
async def open_client(url: str, token: str) -> AsyncIterator[Client]:
    """Give a client for as long as the context lasts."""
    headers = {"Authorization": f"Bearer {token}"}
    limit = aiohttp.ClientTimeout(total=RESPONSE_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
    async with aiohttp.ClientSession(headers=headers, timeout=limit) as http:
        yield Client(http, url)


def path_of(*steps: str) -> str:
    """Make a path of steps as they were typed: `#`, `?` and `/` are signs like others."""
    return "".join(f"/{quote(step, safe='')}" for step in steps)
