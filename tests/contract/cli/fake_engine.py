"""An engine's RPC without an engine: tests set its responses."""

import asyncio
from collections.abc import Iterable
from typing import Any

import msgspec
from aiohttp import web

from cli.client import Lost
from tests.harness.cli.controlled_call import STREAMS
from tests.harness.cli.inbound import timeline
from tests.harness.servers.web_server import WebServer
from wire import rpc
from wire.agents import Agents, AgentView
from wire.control import DialedLeg
from wire.error_codes.problems import coded_problem
from wire.events.call_events import CallEvent
from wire.request import ApiRequests, ApiRequestView
from wire.verbs import Hangup
from wire.views import CallRecordings, Calls, CallView, EndedCalls, Replay, Timeline

TOKEN = "secret"  # noqa: S105 - of a server that lives for one test
BUSY = AgentView(
    "1001", "PJSIP/1001", "online", busy=True, name="[Ada]", call_id="3-pbx1-7", nodes=("pbx1",)
)
AWAY = AgentView("sales7", "PJSIP/1002", "offline", busy=False)
NODES = (
    rpc.NodeView(
        "pbx1", True, 3, weight=3, max_calls=20, ami_connected=True, loss=0.012, jitter_ms=7.4
    ),
    rpc.NodeView(
        "pbx2", False, 0, drained=True, unavailable_reason="no_node", trunk_reachable=False
    ),
)
REQUEST = ApiRequestView(
    "https://crm.example/people", "POST", "lookup", request_id="0123456789abcdef01234567",
    secrets=("token",),
)  # fmt: skip
ROUTE = rpc.NumberRoute("acme", Hangup())


class FakeEngine(WebServer):
    """Serves on a free port, which stays the same after `stop` and `start`."""

    def __init__(self) -> None:
        super().__init__()
        self.call: CallView | None = None  # overrides the call of the timelines
        self.timelines: list[Timeline] = [timeline()]  # one per request; the last one repeats
        self.nodes: list[tuple[rpc.NodeView, ...]] = [NODES]  # likewise
        self.problem: rpc.Problem | None = None
        self.requests: list[tuple[str, str, Any]] = []
        self.last_ids: list[str] = []
        self.calls: tuple[CallView, ...] | None = None  # the live calls; None: only `call`
        self.agents: tuple[AgentView, ...] = (BUSY, AWAY)
        self.replays: dict[str, Replay] = {}
        self.events: asyncio.Queue[CallEvent | Lost] = asyncio.Queue()

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        """Serve the event stream and all requests."""
        return [
            web.get("/rpc/v1/events", self._stream),
            web.route("*", "/rpc/v1/{path:.*}", self._answer),
        ]

    async def _answer(self, request: web.Request) -> web.Response:
        body = await request.read()
        sent = msgspec.json.decode(body) if body else None
        self.requests.append((request.method, request.match_info["path"], sent))
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.problem = coded_problem(401, "unauthenticated", "wrong token")
        if self.problem is not None:
            return _json(self.problem, self.problem.status)
        path = request.match_info["path"]
        return _json(self._audited(path) or self._value(request.method, path))

    def _value(self, method: str, path: str) -> object:  # noqa: C901, PLR0912 - a table
        call = self.call or self.timelines[0].call
        match method, path.split("/"):
            case "POST", ["calls"]:
                return rpc.StartedCall(call.call_id)
            case "GET", ["calls"]:
                return Calls((call,) if self.calls is None else self.calls)
            case _, ["calls", _, "timeline"]:
                return self.timelines.pop(0) if len(self.timelines) > 1 else self.timelines[0]
            case "GET", ["nodes"]:
                return rpc.Nodes(self.nodes.pop(0) if len(self.nodes) > 1 else self.nodes[0])
            case "POST", ["nodes", *_]:
                return NODES[0]
            case _, ["slots"]:
                return rpc.Slots(2, highest=4)
            case "GET", ["agents"]:
                return Agents(self.agents)
            case "PUT", ["agents", *_]:
                return AWAY
            case "PUT", ["routes", _]:
                return ROUTE
            case _, ["flows", _, *steps]:
                return _flow(method, steps)
            case _, ["requests", _, *steps]:
                return REQUEST if steps else ApiRequests((REQUEST,))
            case _, ["calls", _, *action]:
                return _controlled(call, action)
            case _:
                return {}

    def _audited(self, path: str) -> EndedCalls | Replay | None:
        match path.split("/"):
            case [_, "ended"]:
                return EndedCalls(tuple(self.replays))
            case [_, call_id, "replay"]:
                return self.replays[call_id]
            case _:
                return None

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        self.last_ids.append(request.headers.get("Last-Event-ID", ""))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b":\n\n")
        while True:
            event = await self.events.get()
            body = msgspec.json.encode(event)
            if isinstance(event, CallEvent):
                await response.write(b'id: {"0":"7-0"}\nevent: x\ndata: %b\n\n' % body)
            else:
                await response.write(b"event: lost\ndata: %b\n\n" % body)


def _flow(method: str, steps: list[str]) -> object:
    match method, steps:
        case "GET", []:
            return rpc.Flows((rpc.FlowVersion("menu", 3),))
        case "GET", [flow, "versions"]:
            return rpc.FlowVersions(flow, (2, 3))
        case "PUT", [flow]:
            return rpc.FlowVersion(flow, 4)
        case "GET", _:
            return {"type": "hangup"}
        case _:
            return {}


def _controlled(call: CallView, action: list[str]) -> object:
    match action:
        case ["dial"]:
            return DialedLeg(call.call_id, f"{call.call_id}.l9")
        case ["transfers", *_]:
            return call.transfers[-1]
        case ["conference", _]:
            return call.conferences[-1]
        case ["streams", *_]:
            return msgspec.structs.replace(STREAMS, call_id=call.call_id)
        case ["recording", _]:
            return CallRecordings(call.call_id, call.recordings)
        case _:
            return call


def _json(body: object, status: int = 200) -> web.Response:
    return web.Response(
        status=status, body=msgspec.json.encode(body), content_type="application/json"
    )
