"""Delivery to the listener of a call: which events it gets, and what its responses mean."""

import json
from collections.abc import Mapping
from typing import cast

import pytest

from engine.callbacks.transport import Delivered, Failed, Outcome, SignedEvent
from engine.callbacks.transports.listener import ListenerTransport
from engine.listeners import LOST, ListenerExchange, ListenerRegistry, ListenerReply, ReceivedBody
from engine.webhooks.errors import AttemptFailed
from engine.webhooks.log.exchange import Exchange
from wire.callbacks.targets import DeliveryTarget, HttpsTarget

NOW_S = 1_700_000_000.5
TARGET = HttpsTarget("https://a.example/hook")
HEADERS = {"Content-Type": "application/json", "webhook-id": "e1"}


def event(direction: str = "inbound") -> SignedEvent:
    """Return an event of a call from +1 to +2."""
    fields = {"callId": "c1", "direction": direction, "from": "+1", "to": "+2", "event": "x"}
    return SignedEvent("acme", "e1", json.dumps(fields).encode(), {"webhook-id": "e1"}, attempt=2)


def reply(status: int, **headers: str) -> ListenerReply:
    """Return a listener's response."""
    found = {name.replace("_", "-"): value for name, value in headers.items()}
    return ListenerReply(status, found, ReceivedBody(b"body"))


class Listener:
    """Answers all requests alike, or fails."""

    def __init__(self, result: ListenerReply | Exception) -> None:
        self.sent: list[tuple[str, str, Mapping[str, str], bytes, float]] = []
        self._result = result

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, wait_s: float
    ) -> ListenerReply:
        self.sent.append((method, url, headers, body, wait_s))
        if isinstance(self._result, Exception):
            raise self._result
        return self._result


class Listeners:
    """Has the listener of one account, if any."""

    def __init__(self, listener: Listener | None, *, is_of_account: bool = True) -> None:
        self.lookups: list[tuple[str, str, str]] = []
        self._listener = listener
        self._is_of_account = is_of_account

    def has(self, account: str) -> bool:
        return self._is_of_account and account == "acme"

    def find(self, account: str, call_id: str, number: str) -> ListenerExchange | None:
        self.lookups.append((account, call_id, number))
        return cast("ListenerExchange | None", self._listener)


class Target:
    """Keeps what reaches the target itself."""

    def __init__(self) -> None:
        self.got: list[SignedEvent] = []

    async def deliver(self, _target: DeliveryTarget, event: SignedEvent) -> Outcome:
        self.got.append(event)
        return Delivered()


class Log:
    """Keeps attempts."""

    def __init__(self) -> None:
        self.attempts: list[Exchange] = []

    def add(self, attempt: Exchange) -> None:
        self.attempts.append(attempt)


class Scene:
    """A transport with one listener."""

    def __init__(self, listener: Listener | None, *, is_of_account: bool = True) -> None:
        self.listeners = Listeners(listener, is_of_account=is_of_account)
        self.target, self.log = Target(), Log()
        registry = cast("ListenerRegistry", self.listeners)
        self.transport = ListenerTransport(registry, self.target, lambda: NOW_S, self.log)


@pytest.mark.parametrize(("direction", "number"), [("inbound", "+2"), ("outbound", "+1")])
async def test_a_listener_gets_the_events_of_its_number(direction: str, number: str) -> None:
    """The target does not; the log says which of them got it."""
    listener = Listener(reply(200))
    scene, sent = Scene(listener), event(direction)
    assert await scene.transport.deliver(TARGET, sent) == Delivered(is_from_target=False)
    assert scene.listeners.lookups == [("acme", "c1", number)]
    assert listener.sent == [("POST", TARGET.url, HEADERS, sent.body, 10.0)]
    assert scene.target.got == []
    (attempt,) = scene.log.attempts
    assert (attempt.sent.method, attempt.sent.url, attempt.sent.body) == (
        "POST", TARGET.url, sent.body,
    )  # fmt: skip
    assert (attempt.sent.is_to_listener, attempt.sent.headers) == (True, HEADERS)
    assert (attempt.subject, attempt.number) == (sent.subject, 2)
    assert (attempt.at_ms, attempt.took_ms < 1_000) == (1_700_000_000_500, True)
    assert (attempt.status, attempt.reason, attempt.response_body) == (200, "", b"body")


@pytest.mark.parametrize("scene", [Scene(None), Scene(None, is_of_account=False)])
async def test_without_a_listener_the_target_gets_an_event(scene: Scene) -> None:
    """For an account without any, the number of its call is not looked up."""
    assert await scene.transport.deliver(TARGET, event()) == Delivered()
    assert scene.target.got == [event()]
    assert scene.log.attempts == []


async def test_an_event_of_a_lost_listener_goes_to_the_target() -> None:
    """In the same attempt; both are in the log."""
    scene = Scene(Listener(AttemptFailed(LOST, "")))
    assert await scene.transport.deliver(TARGET, event()) == Delivered()
    assert scene.target.got == [event()]
    assert [each.reason for each in scene.log.attempts] == [LOST]


@pytest.mark.parametrize(
    ("result", "reason", "retry_after_s"),
    [
        (TimeoutError(), "timeout", None),
        (AttemptFailed("too_large", ""), "too_large", None),
        (reply(410), "status_410", None),
        (reply(302), "redirect", None),
        (reply(503, Retry_After="30"), "status_503", 30.0),
    ],
)
async def test_a_listener_fails(
    result: ListenerReply | Exception, reason: str, retry_after_s: float | None
) -> None:
    """That says nothing about the target: not even 410 stops it."""
    scene = Scene(Listener(result))
    failed = Failed(reason, retry_after_s, is_from_target=False)
    assert await scene.transport.deliver(TARGET, event()) == failed
    assert scene.target.got == []
    assert [each.reason for each in scene.log.attempts] == [reason]
