"""Status callbacks that a listener receives instead of their target."""

import asyncio
import time

import msgspec
import pytest

from engine.callbacks.transport import Delivered, Failed, Gone, Outcome, SignedEvent
from engine.callbacks.transports.listener import ListenerTransport
from engine.listeners import ListenerRegistry
from engine.observe.event_metrics import ListenerMetrics
from engine.store.listeners import FIRST
from engine.webhooks.log.logged_attempt import logged
from tests.harness.memory_store.store import MemoryStore
from tests.harness.recording_log import RecordingLog
from tests.harness.webhooks.development import allow_listeners
from wire.callbacks.targets import DeliveryTarget, HttpsTarget
from wire.listeners import Listener, ListenerRequest, ListenerResponse

TARGET = HttpsTarget("https://target.example/events")
AT_MS = 1_795_000_000_000
CALL = "3-pbx1-12345678"
NUMBER = "+4721930000"


class Target:
    """A target that receives everything."""

    def __init__(self) -> None:
        self.events: list[str] = []

    async def deliver(self, _target: DeliveryTarget, event: SignedEvent) -> Outcome:
        self.events.append(event.id)
        return Delivered()


class Scene:
    """A transport with a target and an engine's view of the listeners."""

    def __init__(self) -> None:
        self.routes = MemoryStore()
        self.store = self.routes.listeners
        self.target = Target()
        self.metrics = ListenerMetrics()
        self.registry = ListenerRegistry(self.routes, lambda _call_id: None, now_ms, self.metrics)
        self.log = RecordingLog()
        self.transport = ListenerTransport(
            self.registry, self.target, lambda: AT_MS / 1000, self.log
        )

    async def listen(self, number: str = NUMBER) -> None:
        listener = Listener("a", "acme", now_ms(), now_ms() + 60_000, number)
        await allow_listeners(self.routes, number)
        await self.store.add(listener, 60_000)
        await self.registry.poll()

    async def deliver(self, **fields: str) -> Outcome:
        event = {"callId": CALL, "direction": "inbound", "from": "+4799999999", "to": NUMBER}
        body = msgspec.json.encode(event | fields)
        signed = SignedEvent("acme", f"{CALL}.e0", body, {"webhook-id": f"{CALL}.e0"})
        return await self.transport.deliver(TARGET, signed)

    async def deliver_through(self, response: ListenerResponse) -> tuple[Outcome, ListenerRequest]:
        """Deliver an event to the listener, which sends this response."""
        delivering = asyncio.create_task(self.deliver())
        found = await self.store.requests("a", FIRST, 5_000, 1)
        request = msgspec.json.decode(found[0].body, type=ListenerRequest)
        assert await self.store.respond("a", request.id, msgspec.json.encode(response))
        return await delivering, request


def now_ms() -> int:
    return time.time_ns() // 1_000_000


async def test_a_listener_receives_the_events_of_its_number() -> None:
    """As they would be sent to the target, which gets none."""
    scene = Scene()
    await scene.listen()
    outcome, request = await scene.deliver_through(ListenerResponse(status=204))
    assert outcome == Delivered(is_from_target=False)
    assert list(scene.metrics.requests) == [(("answered",), 1)]
    assert (request.method, request.url) == ("POST", TARGET.url)
    assert request.headers == {"Content-Type": "application/json", "webhook-id": f"{CALL}.e0"}
    assert scene.target.events == []


@pytest.mark.parametrize(
    "fields",
    [{"to": "+4722222222"}, {"direction": "outbound"}, {"to": "+4722222222", "from": NUMBER}],
)
async def test_the_target_receives_the_others(fields: dict[str, str]) -> None:
    """Also those in which the number is that of the other party."""
    scene = Scene()
    await scene.listen()
    assert await scene.deliver(**fields) == Delivered()
    assert len(scene.target.events) == 1


@pytest.mark.parametrize(
    ("response", "reason", "retry_after_s"),
    [
        (ListenerResponse(status=500), "status_500", None),
        (ListenerResponse(status=503, headers={"Retry-After": "7"}), "status_503", 7.0),
        (ListenerResponse(status=410), "status_410", None),
        (ListenerResponse(status=302), "redirect", None),
        (ListenerResponse(fault="connect"), "connect", None),
        (ListenerResponse(fault="timeout"), "timeout", None),
    ],
)
async def test_a_failure_of_a_listener_says_nothing_about_the_target(
    response: ListenerResponse, reason: str, retry_after_s: float | None
) -> None:
    """It does not stop the target with 410, and counts for no circuit."""
    scene = Scene()
    await scene.listen()
    outcome, _ = await scene.deliver_through(response)
    assert outcome == Failed(reason, retry_after_s, is_from_target=False)
    assert not isinstance(outcome, Gone)
    assert scene.target.events == []


async def test_an_event_whose_listener_ends_goes_to_the_target() -> None:
    """At once, and not by the schedule of retries."""
    scene = Scene()
    await scene.listen()
    delivering = asyncio.create_task(scene.deliver())
    await scene.store.requests("a", FIRST, 5_000, 1)
    await scene.store.remove("acme", "a")
    await scene.registry.poll()
    assert await delivering == Delivered()
    assert len(scene.target.events) == 1


async def test_what_a_listener_receives_is_logged() -> None:
    """As an attempt to its address that was sent to a listener, with the listener's response."""
    scene = Scene()
    await scene.listen()
    await scene.deliver_through(ListenerResponse(status=500, body="a bug"))
    await scene.deliver_through(ListenerResponse(fault="connect"))
    first, second = (logged(each) for each in scene.log.exchanges)
    assert (first.url, first.reason, first.response_body) == (TARGET.url, "status_500", b"a bug")
    assert (second.status, second.reason) == (0, "connect")
    assert (first.is_to_listener, second.is_to_listener) == (True, True)
    assert first.at_ms == AT_MS
