"""The RPC over real HTTP, with the memory store (design sections 6, 7): what REST relies on."""

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from engine.calls.events import LegEnded, LegPlaced
from engine.media.clip import Limits as MediaLimits
from engine.media.opening import opened
from engine.rpc.bodies import MOST_BYTES
from engine.rpc.schema import schema
from engine.rpc.server import Parts, serving
from engine.runtime.clock import LoopClock
from engine.runtime.desk import Desk, Place
from engine.runtime.node import Node
from engine.runtime.placement import Gate
from engine.runtime.requests import Dialplan
from engine.runtime.switch import Rules, Switch
from engine.store.errors import StoreDown
from engine.store.memory import Memory
from engine.store.writer import Writer
from tests.harness.ports import free_port
from tests.harness.until import until
from tests.unit.runtime.building import HandErrands, RecordingPbx
from wire.tree import Limits

TOKEN = "a-token"  # noqa: S105 - of this test's own server
SLOTS = 2
CALL = {"account": "acme", "from": "+4799999999", "to": "+4711111111"}
SAY = {"type": "say", "data": {"text": "hello"}}


class MoodyStore(Memory):
    """The memory store, which can be out of reach."""

    down = False

    async def commit(self, slot: int, token: int, changes: Any) -> None:
        """Commit, unless down."""
        self._check()
        await super().commit(slot, token, changes)

    async def read(self, slot: int, call_id: str) -> bytes | None:
        """Read, unless down; always a moment later, so that others come in between."""
        await asyncio.sleep(0)
        self._check()
        return await super().read(slot, call_id)

    async def events(self, *args: Any, **more: Any) -> list[tuple[int, str, bytes]]:
        """Read events, unless down."""
        self._check()
        return await super().events(*args, **more)

    async def ping(self) -> None:
        """Answer, unless down."""
        self._check()

    def _check(self) -> None:
        if self.down:
            raise StoreDown("in a bad mood")


class Bench:
    """An engine's RPC with a recording PBX behind it."""

    def __init__(self) -> None:
        self.store = MoodyStore()
        self.pbx = RecordingPbx()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.session: aiohttp.ClientSession
        self.switch: Switch

    async def open(self, house: AsyncExitStack, folder: Path) -> None:
        """Start everything."""
        clock = LoopClock(asyncio.get_running_loop())
        rules = Rules(SLOTS, 3_600_000, "+4700000000")
        self.switch = Switch(self.store, clock, Gate(clock, 10_000, 10_000), rules)
        desks = {}
        for slot in range(SLOTS):
            writer = Writer(self.store, slot, await self.store.claim(slot, "me"), lambda: 0.0)
            task = asyncio.create_task(writer.run())
            house.callback(task.cancel)
            plan = Dialplan(f"switchroom-{slot}", "PJSIP/{number}@trunk", "PJSIP/{agent_id}", "x")
            desks[slot] = Desk(Place("pbx1", slot, self.pbx, plan), clock, writer, HandErrands())
            desks[slot].release()
        node = Node("pbx1", self.pbx, desks, clock, self.switch.arrive)
        self.switch.nodes["pbx1"] = node
        house.push_async_callback(node.close)
        self.session = await house.enter_async_context(aiohttp.ClientSession())
        library = await house.enter_async_context(
            opened(folder, self.session, [], clock.now_ms, MediaLimits())
        )
        parts = Parts(self.switch, self.store, library, Limits(), SLOTS)
        await house.enter_async_context(serving(parts, TOKEN, "127.0.0.1", self.port))

    async def ask(
        self, method: str, path: str, body: object = None, **more: Any
    ) -> tuple[int, Any]:
        """Ask; bytes are sent as they are, anything else as JSON."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {TOKEN}", **more.pop("headers", {})}
        url = f"{self.url}/rpc/v1{path}"
        async with self.session.request(method, url, data=data, headers=headers, **more) as got:
            return got.status, await got.json(content_type=None)

    async def started(self, **more: Any) -> str:
        """Start a call; give its id."""
        status, answer = await self.ask("POST", "/calls", {**CALL, **more})
        assert status == 201, answer
        return str(answer["callId"])

    async def problem(
        self, method: str, path: str, body: object = None, **more: Any
    ) -> tuple[int, str]:
        """Ask for what must be refused; give the status and the code of a well-formed problem."""
        status, answer = await self.ask(method, path, body, **more)
        assert answer["status"] == status
        assert {"title", "code"} <= answer.keys() <= {
            "type", "title", "status", "code", "detail", "errors",
        }  # fmt: skip
        return status, str(answer["code"])


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Bench]:
    """Run a bench."""
    async with AsyncExitStack() as house:
        bench = Bench()
        await bench.open(house, folder)
        yield bench


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """Give a bench to a test."""
    async with running(tmp_path) as made:
        yield made


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer wrong", TOKEN, f"bearer {TOKEN}", f"Bearer {TOKEN} "]
)
@pytest.mark.parametrize("path", ["/calls", "/openapi.json", "/no/such"])
async def test_nothing_without_the_token(bench: Bench, given: str | None, path: str) -> None:
    """Everything under /rpc/v1 wants the bearer token, and tells nothing without it."""
    headers = {} if given is None else {"Authorization": given}
    async with bench.session.get(f"{bench.url}/rpc/v1{path}", headers=headers) as got:
        # Blanks around a header's value are not part of it.
        assert got.status == (401 if (given or "").strip() != f"Bearer {TOKEN}" else got.status)
        assert got.content_type in {"application/problem+json", "application/json"}


async def test_a_token_of_odd_bytes_is_wrong(bench: Bench) -> None:
    """Bytes that are no UTF-8 in the header are a wrong token, not a fault of ours."""
    answer = await raw(bench, b"GET /rpc/v1/calls HTTP/1.1\r\nAuthorization: Bearer \xff\xfe\r\n")
    assert answer.startswith(b"HTTP/1.1 401")


async def raw(bench: Bench, head: bytes, body: bytes = b"") -> bytes:
    """Send bytes as they are; give the answer's."""
    reader, writer = await asyncio.open_connection("127.0.0.1", bench.port)
    writer.write(head + b"Host: x\r\nConnection: close\r\n\r\n" + body)
    await writer.drain()
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def test_a_call_is_started_and_shown(bench: Bench) -> None:
    """201 with the call's id; its view has what was asked, in camelCase."""
    call_id = await bench.started(action=SAY, customData={"order": 7}, **{"from": "+4799999999"})
    status, view = await bench.ask("GET", f"/calls/{call_id}")
    assert status == 200
    assert (view["callId"], view["account"], view["node"]) == (call_id, "acme", "pbx1")
    assert (view["from"], view["to"], view["status"]) == ("+4799999999", CALL["to"], "initiated")
    assert (view["doing"], view["direction"]) == ("starting", "outbound")
    assert view["customData"] == {"order": 7}
    assert view["legs"] == [
        {"channelId": f"{call_id}.l0", "party": CALL["to"], "state": "requested"}
    ]
    assert created(bench) == [f"{call_id}.l0"]


async def test_live_calls_are_listed_by_account(bench: Bench) -> None:
    """All, or those of one account."""
    first, second = await bench.started(), await bench.started(account="other")
    _, everything = await bench.ask("GET", "/calls")
    assert {call["callId"] for call in everything["calls"]} == {first, second}
    _, own = await bench.ask("GET", "/calls?account=other")
    assert [call["callId"] for call in own["calls"]] == [second]


async def test_an_account_sees_only_its_own(bench: Bench) -> None:
    """Nobody reads, controls or guesses another account's calls: 404."""
    call_id = await bench.started()
    missing = f"{call_id[:-1]}{'0' if call_id[-1] != '0' else '1'}"
    for found, account in ((call_id, "other"), (missing, "acme"), ("nonsense", "acme")):
        for path in (f"/calls/{found}", f"/calls/{found}/timeline"):
            assert await bench.problem("GET", f"{path}?account={account}") == (404, "not_found")
        hangup = await bench.problem("POST", f"/calls/{found}/hangup", {"account": account})
        assert hangup == (404, "not_found")
    assert (await bench.ask("GET", f"/calls/{call_id}?account=acme"))[0] == 200


@pytest.mark.parametrize(
    "call", ["%D9%A3-pbx1-abcdefgh", "0-pbx1-abcdefgh%0A", "..%2f..", "%00", "9" * 4000]
)
async def test_odd_ids_are_unknown(bench: Bench, call: str) -> None:
    """No id that is not ours does harm."""
    from yarl import URL  # noqa: PLC0415 - to send a path as it is

    url = URL(f"{bench.url}/rpc/v1/calls/{call}", encoded=True)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with bench.session.get(url, headers=headers) as got:
        assert got.status == 404


async def test_a_call_is_hung_up_once(bench: Bench) -> None:
    """200 while it lives; once it has ended, 409. The ended call can still be read."""
    call_id = await bench.started()
    bench.pbx.settle()
    status, view = await bench.ask("POST", f"/calls/{call_id}/hangup", {"account": "acme"})
    assert (status, view["doing"]) == (200, "ending")
    await until(lambda: f"DELETE channels/{call_id}.l0" in bench.pbx.lines)
    end(bench, call_id)
    await until(lambda: bench.switch.find(call_id) is None)
    conflict = await bench.problem("POST", f"/calls/{call_id}/hangup", b"")
    assert conflict == (409, "conflict")
    await until(lambda: is_stored_as(bench, call_id, "canceled"))
    _, view = await bench.ask("GET", f"/calls/{call_id}")
    assert (view["doing"], view["endedBy"]) == ("over", "api")


def created(bench: Bench) -> list[str]:
    """List the legs that the PBX was asked to make."""
    return [dict(each.request.query)["channelId"] for each in bench.pbx.sent]


def end(bench: Bench, call_id: str) -> None:
    """End a call's main leg."""
    happens(bench, LegEnded(f"{call_id}.l0", 16))


def happens(bench: Bench, event: LegPlaced | LegEnded) -> None:
    """Let something happen to a leg."""
    found = bench.switch.find(event.leg.rpartition(".")[0])
    assert found is not None
    found[0].feed(found[1], event)


async def is_stored_as(bench: Bench, call_id: str, status: str) -> bool:
    """Tell whether a call is stored with a status."""
    call = await bench.switch.read(call_id)
    return call is not None and call.status == status


async def test_a_story_is_told(bench: Bench) -> None:
    """The timeline is the log run through the core again: events, commands, states."""
    call_id = await bench.started(action=SAY)
    bench.pbx.settle()
    happens(bench, LegPlaced(f"{call_id}.l0"))
    await until(lambda: len(log_of(bench, call_id)) == 3)
    status, story = await bench.ask("GET", f"/calls/{call_id}/timeline")
    assert status == 200
    assert [moment["event"]["is"] for moment in story["moments"]] == ["CallOpened", "LegPlaced"]
    wanted = [[command["is"] for command in each["commands"]] for each in story["moments"]]
    assert wanted == [["Prefetch", "Originate"], ["Ring"]]
    assert story["call"]["callId"] == call_id


def log_of(bench: Bench, call_id: str) -> list[bytes]:
    """Read a call's log."""
    return bench.store._slot(int(call_id[0])).logs.get(call_id, [])  # noqa: SLF001 - no await


async def test_the_same_request_id_is_the_same_call(bench: Bench) -> None:
    """The same requestId again gives the same call, live or ended."""
    first = await bench.started(requestId="order_1234")
    assert await bench.started(requestId="order_1234", to="+4722222222") == first
    end(bench, first)
    await until(lambda: is_stored_as(bench, first, "failed"))
    assert await bench.started(requestId="order_1234") == first
    assert await bench.started(requestId="order_1235") != first


async def test_a_request_id_asked_many_times_at_once(bench: Bench) -> None:
    """Concurrent identical requests make one call and dial once."""
    made = await asyncio.gather(*(bench.started(requestId="order_1234") for _ in range(20)))
    assert len(set(made)) == 1
    assert created(bench) == [f"{made[0]}.l0"]
    assert bench.switch.live == 1


async def test_another_accounts_request_id(bench: Bench) -> None:
    """A requestId of another account's call gives no access to it."""
    call_id = await bench.started(requestId="order_1234")
    asked = {**CALL, "account": "other", "requestId": "order_1234"}
    status, answer = await bench.ask("POST", "/calls", asked)
    assert (status, answer["code"]) == (409, "conflict")
    assert call_id not in json.dumps(answer)


FAULTS: list[tuple[Any, str]] = [
    (b"", "account"),
    (b"{", ""),
    (b'{"account":"\xff"}', ""),
    (b"[]", ""),
    (b"null", ""),
    ({**CALL, "extra": 1}, "extra"),
    ({**CALL, "to": "x"}, "to"),
    ({**CALL, "to": "+4711111111\n"}, "to"),
    ({**CALL, "to": "1001&PJSIP/1002"}, "to"),
    ({**CALL, "from": "agent:../x"}, "from"),
    ({**CALL, "account": "a\r\nb"}, "account"),
    ({**CALL, "callerId": '"Bob" <1>'}, "callerId"),
    ({**CALL, "timeout": 0}, "timeout"),
    ({**CALL, "timeout": -1}, "timeout"),
    ({**CALL, "timeout": 601}, "timeout"),
    ({**CALL, "timeout": "5"}, "timeout"),
    ({**CALL, "requestId": "short"}, "requestId"),
    ({**CALL, "requestId": "order-1234"}, "requestId"),
    ({**CALL, "requestId": "order_1234\n"}, "requestId"),
    ({**CALL, "action": {"type": "sing"}}, "action.type"),
    ({**CALL, "action": "http://example.com/"}, "action"),
    ({**CALL, "action": {"type": "dial", "data": {}}}, "action.data"),
    ({**CALL, "customData": []}, "customData"),
    ({**CALL, "customData": {"n": 2**70}}, "customData"),
    ({**CALL, "customData": {"a": "x" * 20_000}}, "customData"),
    ({**CALL, "contact": {"n": -(2**70)}}, "contact"),
]


@pytest.mark.parametrize(("body", "path"), FAULTS, ids=range(len(FAULTS)))
async def test_bad_input_is_told_with_its_path(bench: Bench, body: object, path: str) -> None:
    """400 for invalid input, never 422; errors[] names the path and what is wrong."""
    status, answer = await bench.ask("POST", "/calls", body)
    assert status == 400
    assert answer["title"] == "Invalid input"
    assert [fault["path"] for fault in answer["errors"]] == [path]
    assert answer["errors"][0]["message"]
    assert bench.pbx.lines == []


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"customData":{"a":'])
async def test_bottomless_bodies_are_bad_input(bench: Bench, opening: bytes) -> None:
    """No depth of nesting is a fault of ours."""
    for times in (100, 1_000, 10_000):
        assert (await bench.problem("POST", "/calls", opening * times))[0] == 400
    deep = b'{"a":' * 400 + b"1" + b"}" * 400
    body = json.dumps(CALL).encode()[:-1] + b', "customData": ' + deep + b"}"
    assert await bench.problem("POST", "/calls", body) == (400, "too_deep")


async def test_a_body_has_a_size(bench: Bench) -> None:
    """More than the most bytes is 413, and nothing is read of it."""
    body = b" " * (MOST_BYTES + 1)
    assert (await bench.problem("POST", "/calls", body))[0] == 413
    assert (await bench.problem("PUT", "/flows/acme/f", body))[0] == 413


@pytest.mark.parametrize("encoding", [b"gzip", b"deflate", b"br", b"nonsense"])
async def test_a_body_packed_wrongly_is_not_our_fault(bench: Bench, encoding: bytes) -> None:
    """Garbage under a Content-Encoding is a client's error."""
    head = (
        b"POST /rpc/v1/calls HTTP/1.1\r\nAuthorization: Bearer " + TOKEN.encode() + b"\r\n"
        b"Content-Encoding: " + encoding + b"\r\nContent-Length: 4\r\n"
    )
    answer = await raw(bench, head, b"\x00\xff\x00\xff")
    assert re.match(rb"HTTP/1\.[01] 4[0-9]{2} ", answer), answer


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("DELETE", "/calls", 405),
        ("GET", "/calls/x/hangup", 405),
        ("GET", "/flows/acme/none", 404),
    ],
)
async def test_what_is_not_there(bench: Bench, method: str, path: str, status: int) -> None:
    """Unknown paths and methods are problems too."""
    assert (await bench.problem(method, path))[0] == status


async def test_without_a_node_nothing_begins(bench: Bench) -> None:
    """503 with Retry-After when no node can serve; /readyz says so; nothing is stored."""
    for desk in bench.switch.nodes["pbx1"].desks.values():
        desk.hold()
    assert await bench.problem("POST", "/calls", CALL) == (503, "no_node")
    async with bench.session.get(bench.url + "/readyz") as got:
        assert got.status == 503
        assert "node pbx1 is away" in (await got.json())["faults"]
    assert await bench.problem("POST", "/calls", {**CALL, "node": "pbx1"}) == (503, "no_node")


async def test_an_unheard_slot_gets_no_call(bench: Bench) -> None:
    """A slot whose app nobody listens to would drop its legs: calls begin in another.

    A requestId has its slot for good: while that is unheard, 503; and /readyz says so.
    """
    bench.switch.nodes["pbx1"].desks[0].hold()
    answers = [await bench.ask("POST", "/calls", CALL) for _ in range(20)]
    assert {(status, answer["callId"][0]) for status, answer in answers} == {(201, "1")}
    named = [{**CALL, "requestId": f"request{number:02}"} for number in range(20)]
    assert {(await bench.ask("POST", "/calls", each))[0] for each in named} == {201, 503}
    async with bench.session.get(bench.url + "/readyz") as got:
        assert got.status == 503


async def test_while_the_store_is_away(bench: Bench) -> None:
    """Redis gone: reads are refused with 503, and so are new calls once it is known."""
    call_id = await bench.started()
    bench.store.down = True
    assert (await bench.problem("GET", "/calls/0-pbx1-abcdefgh")) == (503, "store_down")
    assert (await bench.ask("GET", f"/calls/{call_id}"))[0] == 200
    asked = {**CALL, "requestId": "order_1234"}
    assert await bench.problem("POST", "/calls", asked) == (503, "store_down")
    happens(bench, LegPlaced(f"{call_id}.l0"))
    await until(lambda: not any(desk.can_store for desk in desks_with_calls(bench)))
    async with bench.session.get(bench.url + "/readyz") as got:
        assert got.status == 503
    headers = {"Authorization": f"Bearer {TOKEN}"}
    statuses = set()
    while 503 not in statuses:
        async with bench.session.post(
            f"{bench.url}/rpc/v1/calls", json={**CALL, "node": "pbx1"}, headers=headers
        ) as got:
            statuses.add(got.status)
            assert "Retry-After" in got.headers
    bench.store.down = False


def desks_with_calls(bench: Bench) -> list[Desk]:
    """List the desks that have a call."""
    return [desk for desk in bench.switch.nodes["pbx1"].desks.values() if desk.actors]


async def test_flows_are_kept(bench: Bench) -> None:
    """A flow is stored and shown; one without placeholders must be a good tree at once."""
    flow = {"type": "say", "data": {"text": "Hi {{contact.fName}}"}}
    assert (await bench.ask("PUT", "/flows/acme/menu", flow))[0] == 200
    assert await bench.ask("GET", "/flows/acme/menu") == (200, flow)
    assert await bench.problem("GET", "/flows/other/menu") == (404, "not_found")
    for bad in ({"type": "sing"}, b"{", b'"\xff"', b"{{", b'{"a": "{{' + b"x" * 70_000 + b'"}'):
        assert (await bench.problem("PUT", "/flows/acme/menu", bad))[0] == 400
    assert (await bench.problem("PUT", "/flows/acme/a%2Fb", flow))[0] == 400
    assert (await bench.problem("PUT", "/flows/ac%0Ame/b", flow))[0] == 400


async def test_routes_are_kept(bench: Bench) -> None:
    """A number's route is stored, listed and taken away."""
    route = {"account": "acme", "action": SAY, "customData": {"a": 1}}
    assert (await bench.ask("PUT", "/routes/+4733333333", route))[0] == 200
    assert (await bench.ask("PUT", "/routes/*", {**route, "action": "https://x.example/"}))[
        0
    ] == 200
    _, routes = await bench.ask("GET", "/routes")
    assert routes["+4733333333"] == route
    assert set(routes) == {"+4733333333", "*"}
    assert (await bench.ask("DELETE", "/routes/*"))[0] == 200
    assert set((await bench.ask("GET", "/routes"))[1]) == {"+4733333333"}
    bad = {**route, "action": {"type": "play", "data": {"audioUrl": "http://x/"}}}
    assert (await bench.problem("PUT", "/routes/1", bad))[0] == 400
    assert (await bench.problem("PUT", "/routes/1", {**route, "customData": {"n": 2**70}}))[
        0
    ] == 400


async def test_nodes_health_and_metrics(bench: Bench) -> None:
    """Nodes are listed with their calls; health, readiness and metrics need no token."""
    await bench.started()
    _, nodes = await bench.ask("GET", "/nodes")
    assert nodes["nodes"] == [{"name": "pbx1", "connected": True, "calls": 1}]
    for path, text in (("healthz", "ok"), ("readyz", "true"), ("metrics", "switchroom_calls")):
        async with bench.session.get(f"{bench.url}/{path}") as got:
            assert got.status == 200
            assert text in await got.text()


class Stream:
    """A listener of the event stream."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def next(self) -> tuple[str, dict[str, Any]]:
        """Give the next event, and its id for Last-Event-ID."""
        fields: dict[str, str] = {}
        async with asyncio.timeout(10):
            while not fields.get("data"):
                line = (await self._response.content.readline()).decode().rstrip("\n")
                name, _, value = line.partition(": ")
                if name and value:
                    fields[name] = value
        event: dict[str, Any] = json.loads(fields["data"])
        assert fields["event"] == event["event"]
        return fields["id"], event

    async def ended(self) -> None:
        """Wait for the stream's proper end: nothing more but comments."""
        async with asyncio.timeout(10):
            left = await self._response.content.read()
        assert left.replace(b":\n\n", b"") == b""


@asynccontextmanager
async def listening(bench: Bench, query: str = "", last: str = "") -> AsyncIterator[Stream]:
    """Follow the events."""
    headers = {"Authorization": f"Bearer {TOKEN}"} | ({"Last-Event-ID": last} if last else {})
    async with bench.session.get(f"{bench.url}/rpc/v1/events{query}", headers=headers) as got:
        assert got.status == 200
        assert got.content_type == "text/event-stream"
        yield Stream(got)


async def test_events_are_followed(bench: Bench) -> None:
    """From now on, in order, each with an id; `callId` and `account` narrow it."""
    old = await bench.started()
    async with listening(bench) as all_, listening(bench, "?account=other") as other:
        new = await bench.started(account="other")
        for stream in (all_, other):
            _, event = await stream.next()
            assert (event["callId"], event["event"]) == (new, "initiated")
        end(bench, old)
        async with listening(bench, f"?callId={new}") as one:
            end(bench, new)
            _, event = await one.next()
            assert (event["callId"], event["event"]) == (new, "completed")
        ended = {(await all_.next())[1]["callId"] for _ in range(2)}
        assert ended == {old, new}  # in order within a slot
        assert (await other.next())[1]["event"] == "completed"


async def test_the_stream_is_taken_up_again(bench: Bench) -> None:
    """With Last-Event-ID nothing is lost and nothing is told twice."""
    async with listening(bench) as stream:
        calls = [await bench.started() for _ in range(6)]
        seen = [await stream.next() for _ in range(2)]
    async with listening(bench, last=seen[-1][0]) as stream:
        rest = [await stream.next() for _ in range(4)]
    told = [event["callId"] for _, event in [*seen, *rest]]
    assert sorted(told) == sorted(calls)


@pytest.mark.parametrize(
    "last",
    ["x", "5-0", "[]", '{"0": 5}', '{"0": "x"}', '{"99": "0-0"}', '{"-1": "0-0"}', '{"0": "$"}'],
)
async def test_a_place_that_is_none(bench: Bench, last: str) -> None:
    """An id that this stream never gave is bad input, told before the stream begins."""
    refused = await bench.problem("GET", "/events", headers={"Last-Event-ID": last})
    assert refused == (400, "invalid")


async def test_a_stream_ends_with_the_store(bench: Bench) -> None:
    """A listener whose store goes away is let go; it comes back by itself."""
    async with listening(bench) as stream:
        bench.store.down = True
        await stream.ended()
    bench.store.down = False
    async with listening(bench) as stream:
        await bench.started()
        assert (await stream.next())[1]["event"] == "initiated"


def refs(value: Any) -> list[str]:
    """List all references of a document."""
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [each for inner in value.values() for each in refs(inner)]
    return [each for inner in value for each in refs(inner)] if isinstance(value, list) else []


async def test_the_description_is_published(bench: Bench) -> None:
    """/rpc/v1/openapi.json is what the code decodes: every reference resolves, every path works."""
    status, document = await bench.ask("GET", "/openapi.json")
    assert status == 200
    assert document == json.loads(json.dumps(schema()))
    assert document["openapi"].startswith("3.1")
    for ref in refs(document):
        assert ref.removeprefix("#/components/schemas/") in document["components"]["schemas"]
    for path, operations in document["paths"].items():
        names = re.findall(r"\{(\w+)\}", path)
        for method, operation in operations.items():
            assert [each["name"] for each in operation["parameters"]] == names
            assert "default" in operation["responses"]
            asked = path.removeprefix("/rpc/v1").format(**dict.fromkeys(names, "x"))
            if asked != "/events":
                assert (await bench.ask(method, asked))[0] != 405


def test_the_descriptions_patterns_are_ecma() -> None:
    """A JSON schema's patterns are ECMA 262: no construct that only Python knows."""
    text = json.dumps(schema())
    for pattern in re.findall(r'"pattern": "((?:[^"\\]|\\.)*)"', text):
        found = json.loads(f'"{pattern}"')
        assert not re.search(r"\\Z|\\A|\(\?P|\(\?[aiLmsux]", found)
        re.compile(found)


METHODS = [("POST", "/calls"), ("POST", "/calls/x/hangup"), ("PUT", "/flows/a/f"),
           ("PUT", "/routes/1")]  # fmt: skip
WORDS = some.sampled_from([*CALL, "action", "type", "data", "customData", "requestId", "number"])
VALUES = some.one_of(
    some.none(), some.integers(), some.text(max_size=8), some.sampled_from([*CALL.values(), "dial"])
)
BODIES = some.one_of(
    some.binary(max_size=60),
    some.recursive(
        VALUES, lambda inner: some.dictionaries(WORDS, inner, max_size=4), max_leaves=8
    ).map(lambda value: json.dumps(value).encode()),
    some.dictionaries(WORDS, VALUES, max_size=3).map(lambda d: json.dumps({**CALL, **d}).encode()),
)


async def test_no_body_is_a_fault_of_ours(bench: Bench) -> None:
    """Any bytes to any operation: an answer or a problem below 500."""
    bodies: list[tuple[str, str, bytes]] = []

    @settings(max_examples=150, database=None, suppress_health_check=list(HealthCheck))
    @given(some.sampled_from(METHODS), BODIES)
    def collect(operation: tuple[str, str], body: bytes) -> None:
        bodies.append((*operation, body))

    collect()
    for method, path, body in bodies:
        status, _ = await bench.ask(method, path, body)
        assert status < 500, (method, path, body)


async def test_the_server_lets_go_of_its_port(tmp_path: Path) -> None:
    """Streams end with the server, not after it."""
    async with running(tmp_path) as bench:
        port = bench.port
        stream = listening(bench)
        await stream.__aenter__()
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))
