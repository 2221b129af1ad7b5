"""Webhooks that a listener answers instead of their address."""

import asyncio
import time

import msgspec
import pytest
from aiohttp import ClientSession, web

from engine.listeners import MAX_READS_OF_ACCOUNT, ListenerRegistry
from engine.observe.event_metrics import ListenerMetrics
from engine.store.errors import StoreDown
from engine.store.listeners import FIRST
from engine.webhooks.action_client import ActionClient, ActionResponse, ActionTimeouts
from engine.webhooks.errors import WebhookFailed
from tests.harness.customers.signatures import verified
from tests.harness.memory_store.listeners import MemoryListeners
from tests.harness.memory_store.store import MemoryStore
from tests.harness.signing import SIGNING_SECRET, fixed_signer
from tests.harness.webhooks.customer import HANGUP, Server, outcomes
from tests.harness.webhooks.development import allow_listeners
from wire.listeners import Listener, ListenerRequest, ListenerResponse
from wire.tree import Limits
from wire.verbs import Hangup

CALL = "3-pbx1-12345678"
NUMBER = "+4721930000"
LEASE_MS = 60_000


class Engine:
    """The part of an engine that sends webhooks, and its store."""

    def __init__(
        self, session: ClientSession, store: MemoryListeners, total_s: float = 5.0
    ) -> None:
        self.store = store
        self.routes = MemoryStore()
        self.routes.listeners = store
        self.position = FIRST
        self.metrics = ListenerMetrics()
        self.registry = ListenerRegistry(
            self.routes, lambda call_id: NUMBER if call_id == CALL else None, now_ms, self.metrics
        )
        self.client = ActionClient(
            lambda _: session,
            Limits(allow_insecure=True),
            fixed_signer(),
            time.time,
            lambda: 0.0,
            timeouts=ActionTimeouts(1.0, total_s),
            listener_of=self.registry.find_for_request,
        )

    async def listen(self, name: str = "a", account: str = "acme", **to: str) -> None:
        """Add a listener, and let the engine see it."""
        to = {"number": NUMBER, **to}
        await allow_listeners(self.routes, to["number"], account)
        listener = Listener(name, account, now_ms(), now_ms() + LEASE_MS, **to)
        await self.store.add(listener, LEASE_MS)
        await self.registry.poll()

    def counted(self) -> dict[str, int]:
        """Return how many requests had each outcome."""
        return {outcome: number for (outcome,), number in self.metrics.requests}

    async def ask(self, url: str) -> ActionResponse:
        return await self.client.ask("acme", url, b'{"callId":"c1"}', f"{CALL}.r0")

    async def request(self, name: str = "a") -> ListenerRequest:
        """Return the next request of a listener."""
        found = await self.store.requests(name, self.position, 5_000, 1)
        self.position = found[0].position
        return msgspec.json.decode(found[0].body, type=ListenerRequest)

    async def respond(
        self, request: ListenerRequest, response: ListenerResponse, name: str = "a"
    ) -> None:
        assert await self.store.respond(name, request.id, msgspec.json.encode(response))


class FaultyListeners(MemoryListeners):
    """A store that can be down."""

    is_down = False

    async def offer(self, listener: str, request: str, body: bytes, wait_ms: int) -> str:
        """Store, unless down."""
        if self.is_down:
            raise StoreDown("test fault")
        return await super().offer(listener, request, body, wait_ms)

    async def live(self) -> list[Listener]:
        """Read, unless down."""
        if self.is_down:
            raise StoreDown("test fault")
        return await super().live()


class CountingListeners(MemoryListeners):
    """A store that counts how many responses are read at once."""

    reads = most = 0

    async def response(self, listener: str, request: str, wait_ms: int) -> bytes | None:
        """Count the read."""
        self.reads += 1
        self.most = max(self.most, self.reads)
        try:
            return await super().response(listener, request, wait_ms)
        finally:
            self.reads -= 1


def now_ms() -> int:
    return time.time_ns() // 1_000_000


DIGITS = b'{"callId":"c1","event":"gather","dtmf":"4711"}'
OK = ListenerResponse(body=HANGUP)
NOWHERE = "https://nowhere.invalid/next?a=b"


@pytest.fixture
def engine(session: ClientSession) -> Engine:
    """Provide an engine without listeners."""
    return Engine(session, FaultyListeners(now_ms))


async def ask_through(engine: Engine, response: ListenerResponse) -> ActionResponse:
    """Fetch an action from the listener, which sends this response."""
    asking = asyncio.create_task(engine.ask(NOWHERE))
    await engine.respond(await engine.request(), response)
    return await asking


async def test_a_listener_gets_the_request_as_it_would_be_sent(engine: Engine) -> None:
    """With the same address, body, id and signature; its response is the webhook's."""
    await engine.listen()
    asking = asyncio.create_task(engine.ask(NOWHERE))
    request = await engine.request()
    assert (request.method, request.url, request.body) == ("POST", NOWHERE, '{"callId":"c1"}')
    assert request.headers["Idempotency-Key"] == f"{CALL}.r0"
    assert verified(SIGNING_SECRET, request.body, request.headers, NOWHERE) == {"callId": "c1"}
    assert 0 < request.until_ms - now_ms() <= 5_000
    await engine.respond(request, OK)
    response = await asking
    assert response.action == Hangup()
    assert outcomes(response.attempts) == [(200, "")]
    assert await engine.store.requests("a", FIRST, 0, 1) == []
    assert engine.counted() == {"answered": 1}


@pytest.mark.parametrize(
    ("account", "to"),
    [
        ("other", {"number": NUMBER}),
        ("acme", {"number": "+4722222222"}),
        ("acme", {"call_id": "x"}),
    ],
)
async def test_other_requests_go_to_their_address(
    engine: Engine, account: str, to: dict[str, str]
) -> None:
    """Those of other accounts, numbers and calls than the listener's."""
    await engine.listen("a", account, **to)
    server = Server(web.Response(text=HANGUP))
    async with server.open() as url:
        assert (await engine.ask(url)).action == Hangup()
    assert await engine.store.requests("a", FIRST, 0, 1) == []


@pytest.mark.parametrize("to", [{}, {"call_id": CALL}])
async def test_a_number_that_does_not_allow_listeners_has_none(
    engine: Engine, to: dict[str, str]
) -> None:
    """Its webhooks go to production; so do open requests, once its route allows no more."""
    await engine.listen(**to)
    server = Server(web.Response(text=HANGUP))
    async with server.open() as url:
        asking = asyncio.create_task(engine.ask(url))
        await engine.request()
        await allow_listeners(engine.routes, NUMBER, is_allowed=False)
        await engine.registry.poll()
        assert outcomes((await asking).attempts) == [(0, "listener_lost"), (200, "")]
        assert outcomes((await engine.ask(url)).attempts) == [(200, "")]


async def test_sensitive_digits_reach_their_address_only(engine: Engine) -> None:
    """A listener's requests are in the store, in readable form."""
    await engine.listen()
    server = Server(web.Response(text=HANGUP))
    async with server.open() as url:
        await engine.client.ask("acme", url, DIGITS, f"{CALL}.r0", sensitive="4711")
    assert [body for _, body in server.requests] == [DIGITS]
    assert await engine.store.requests("a", FIRST, 0, 1) == []


@pytest.mark.parametrize("number", ["+4721930000", "4721930000", "004721930000"])
async def test_a_number_is_found_in_each_spelling(engine: Engine, number: str) -> None:
    """A carrier may spell it otherwise than the listener."""
    await engine.listen("a", number=number)
    assert (await ask_through(engine, OK)).action == Hangup()


async def test_a_listener_of_a_call_goes_before_one_of_its_number(engine: Engine) -> None:
    """Also if the other one is newer."""
    await engine.listen("a", call_id=CALL)
    await engine.listen("b", number=NUMBER)
    assert (await ask_through(engine, OK)).action == Hangup()


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (ListenerResponse(body="x" * 65_537), "too_large"),
        (ListenerResponse(body="<html>"), "not_json"),
        (ListenerResponse(body='{"type": "dance"}'), "invalid_action"),
        (ListenerResponse(status=404), "status_404"),
        (ListenerResponse(status=302, headers={"location": "/"}), "redirect"),
        (ListenerResponse(headers={"content-encoding": "gzip"}, body="x"), "encoded"),
        (ListenerResponse(fault="timeout"), "timeout"),
        (ListenerResponse(fault="not_http"), "not_http"),
        (ListenerResponse(fault="too_large"), "too_large"),
        (ListenerResponse(fault="not_text"), "not_json"),
    ],
)
async def test_an_invalid_response_fails_as_one_of_a_server(
    engine: Engine, response: ListenerResponse, reason: str
) -> None:
    """The reason is the same, and there is no second attempt."""
    await engine.listen()
    with pytest.raises(WebhookFailed) as failed:
        await ask_through(engine, response)
    assert failed.value.reason == reason
    assert [each.reason for each in failed.value.attempts] == [reason]
    assert engine.counted() == {"failed" if response.fault else "answered": 1}


@pytest.mark.parametrize(
    "response",
    [ListenerResponse(fault="connect"), ListenerResponse(status=503, headers={"retry-after": "0"})],
)
async def test_a_transient_failure_is_retried_at_the_listener(
    engine: Engine, response: ListenerResponse
) -> None:
    """With the same idempotency key."""
    await engine.listen()
    asking = asyncio.create_task(engine.ask(NOWHERE))
    first = await engine.request()
    await engine.respond(first, response)
    second = await engine.request()
    assert second.headers["Idempotency-Key"] == first.headers["Idempotency-Key"]
    await engine.respond(second, OK)
    assert len((await asking).attempts) == 2


async def test_a_request_whose_listener_ends_goes_to_its_address(engine: Engine) -> None:
    """Within the same time limit; a response that comes later is rejected."""
    await engine.listen()
    server = Server(web.Response(text=HANGUP))
    async with server.open() as url:
        asking = asyncio.create_task(engine.ask(url))
        request = await engine.request()
        await engine.store.remove("acme", "a")
        await engine.registry.poll()
        response = await asking
    assert outcomes(response.attempts) == [(0, "listener_lost"), (200, "")]
    assert server.requests[0][0]["Idempotency-Key"] == f"{CALL}.r0"
    assert not await engine.store.respond("a", request.id, b"{}")
    assert engine.counted() == {"lost": 1}


async def test_a_newer_listener_gets_the_requests_of_the_one_that_it_replaces(
    engine: Engine,
) -> None:
    """An open request moves to it."""
    await engine.listen()
    asking = asyncio.create_task(engine.ask(NOWHERE))
    first = await engine.request()
    await engine.listen("new")
    second = await engine.request("new")
    assert second.headers["Idempotency-Key"] == first.headers["Idempotency-Key"]
    await engine.respond(second, OK, "new")
    assert (await asking).action == Hangup()


async def test_a_listener_that_never_responds_is_a_timeout(session: ClientSession) -> None:
    """The time limit is that of every webhook."""
    engine = Engine(session, FaultyListeners(now_ms), total_s=0.2)
    await engine.listen()
    with pytest.raises(WebhookFailed) as failed:
        await engine.ask(NOWHERE)
    assert failed.value.reason == "timeout"
    assert engine.counted() == {"timeout": 1}
    assert await engine.store.requests("a", FIRST, 0, 1) == []


async def test_requests_go_to_their_address_while_the_store_is_down(engine: Engine) -> None:
    """The listener is used again once it can be read again."""
    assert isinstance(engine.store, FaultyListeners)
    await engine.listen()
    engine.store.is_down = True
    server = Server(web.Response(text=HANGUP))
    async with server.open() as url:
        assert outcomes((await engine.ask(url)).attempts) == [(0, "listener_lost"), (200, "")]
        await engine.registry.poll()
        assert outcomes((await engine.ask(url)).attempts) == [(200, "")]
    engine.store.is_down = False
    await engine.registry.poll()
    assert (await ask_through(engine, OK)).action == Hangup()
    assert engine.counted() == {"store_down": 1, "answered": 1}


async def test_live_listeners_are_counted(engine: Engine) -> None:
    """Of all accounts; one that the engine uses no longer is none."""

    def connected() -> list[int]:
        return [number for _, number in engine.metrics.connected]

    assert connected() == [0]
    await engine.listen()
    await engine.listen("b", "other", number="+4722222222")
    assert connected() == [2]
    engine.registry.forget("a")
    assert connected() == [1]


async def test_requests_of_an_account_take_turns(session: ClientSession) -> None:
    """Each read of a response has a connection to the store; all requests are answered."""
    store = CountingListeners(now_ms)
    engine, count = Engine(session, store), MAX_READS_OF_ACCOUNT + 5
    await engine.listen()
    asking = [asyncio.create_task(engine.ask(NOWHERE)) for _ in range(count)]
    for request in [await engine.request() for _ in range(count)]:
        await engine.respond(request, OK)
    assert [(await each).action for each in asking] == [Hangup()] * count
    assert store.most == MAX_READS_OF_ACCOUNT
