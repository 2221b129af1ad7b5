"""A client of the engine's RPC; responses are decoded with the types of `wire`."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from cli.errors import NotFound, RpcError, Unreachable, error_text
from cli.http_client import CONNECT_TIMEOUT_S, HttpClient, path_of, tls_context
from cli.responses import FIRST_ERROR_STATUS, decode_response, problem_of
from wire import rpc
from wire.control import ConferenceView
from wire.decoding.messages import decode_message
from wire.events.call_events import CallEvent
from wire.events.consumer_groups import LostEvents
from wire.views import Calls, CallStreams, CallView, EndedCalls, Timeline

if TYPE_CHECKING:
    import aiohttp

T = TypeVar("T")
Lost = tuple[LostEvents, ...]
EventStream = AsyncIterator[tuple[str, CallEvent | Lost]]  # pairs of resume id and event
STREAM_TIMEOUT_S = 30.0  # the stream sends an event or a comment every second


class Client:
    """Requests to one engine; each raises RpcError or Unreachable."""

    is_rest = False

    def __init__(self, http: HttpClient, ca: Path | None = None) -> None:
        self.url = http.url
        self._http = http
        self._ca = ca

    async def request(
        self,
        shape: type[T],
        method: str,
        *path: str,
        body: Any = None,
        query: Mapping[str, str] | None = None,
    ) -> T:
        """Send one request; `path` has the segments below /rpc/v1, which are escaped."""
        data = None if body is None else json.dumps(body).encode()
        reply = await self._http.send(method, f"/rpc/v1{path_of(*path)}", body=data, query=query)
        return decode_response(self.url, reply, shape)

    async def originate(self, body: Mapping[str, Any], idempotency_key: str = "") -> str:
        """Start a call; return its id. With a key that was used before, it is that call's."""
        sent = {**body, "requestId": idempotency_key} if idempotency_key else body
        return (await self.request(rpc.StartedCall, "POST", "calls", body=sent)).call_id

    async def call(self, call_id: str) -> CallView:
        return await self.request(CallView, "GET", "calls", call_id)

    async def calls(self, account: str = "") -> tuple[CallView, ...]:
        """List the live calls, or those of one account."""
        query = {"account": account} if account else {}
        return (await self.request(Calls, "GET", "calls", query=query)).calls

    async def ended_calls(self, limit: int, account: str = "") -> tuple[str, ...]:
        """List the ids of the latest ended calls, or of those of one account."""
        query = {"limit": str(limit)} | ({"account": account} if account else {})
        return (await self.request(EndedCalls, "GET", "calls", "ended", query=query)).call_ids

    async def control(
        self, shape: type[T], call_id: str, action: str, body: Mapping[str, Any]
    ) -> T:
        """Control a live call; `action` is the path below the call's."""
        return await self.request(shape, "POST", "calls", call_id, *action.split("/"), body=body)

    async def conference(self, call_id: str) -> ConferenceView:
        path = ("calls", call_id, "conference", "members")
        return await self.request(ConferenceView, "GET", *path)

    async def streams(self, call_id: str) -> CallStreams:
        return await self.request(CallStreams, "GET", "calls", call_id, "streams")

    async def timeline(self, call_id: str) -> Timeline:
        return await self.request(Timeline, "GET", "calls", call_id, "timeline")

    async def timeline_fields(self, call_id: str) -> dict[str, Any]:
        path = ("calls", call_id, "timeline")
        return await self.request(dict[str, Any], "GET", *path)

    async def nodes(self) -> tuple[rpc.NodeView, ...]:
        return (await self.request(rpc.Nodes, "GET", "nodes")).nodes

    async def remove(self, kind: str, name: str, *path: str) -> None:
        """Delete a resource; raises NotFound."""
        try:
            await self.request(dict[str, Any], "DELETE", *path)
        except RpcError as error:
            if error.problem.code == "not_found":
                raise NotFound(kind, name) from None
            raise

    @asynccontextmanager
    async def events(self, last_id: str = "", account: str = "") -> AsyncIterator[EventStream]:
        """Stream call events from now or after an id, optionally of one account."""
        import aiohttp  # noqa: PLC0415 - only streams need it, and its import takes long

        headers = {"Last-Event-ID": last_id} if last_id else {}
        headers["Authorization"] = self._http.authorization
        query = {"account": account} if account else {}
        limit = aiohttp.ClientTimeout(
            total=None, connect=CONNECT_TIMEOUT_S, sock_read=STREAM_TIMEOUT_S
        )
        tls = tls_context(self.url, self._ca)
        connector = aiohttp.TCPConnector(ssl=True if tls is None else tls)
        try:
            async with (
                aiohttp.ClientSession(headers=headers, timeout=limit, connector=connector) as http,
                http.get(f"{self.url}/rpc/v1/events", params=query) as reply,
            ):
                if reply.status >= FIRST_ERROR_STATUS:
                    raise problem_of(self.url, reply.status, await reply.read())
                yield _read_events(reply.content)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Unreachable(self.url, error_text(error)) from None


@asynccontextmanager
async def open_client(url: str, token: str, ca: Path | None = None) -> AsyncIterator[Client]:
    """Open a client; `ca` verifies an https engine (None: the system's). Raises UsageError."""
    yield Client(HttpClient(url, f"Bearer {token}", tls_context(url, ca)), ca)


async def _read_events(lines: "aiohttp.StreamReader") -> EventStream:
    """Read server-sent events; skip keep-alive comments."""
    entry, kind = "", b""
    async for line in lines:
        name, _, value = line.rstrip(b"\n").partition(b": ")
        if name == b"id":
            entry = value.decode()
        elif name == b"event":
            kind = value
        elif name == b"data" and kind == b"lost":
            yield entry, decode_message(value, Lost)
        elif name == b"data":
            with suppress(msgspec.ValidationError):  # a kind that only a newer version knows
                yield entry, decode_message(value, CallEvent)
