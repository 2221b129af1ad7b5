"""Test events, and events for an account's own API requests."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from engine.callbacks.account_settings import AccountSettings
from engine.callbacks.callback_tester import CallbackTester
from engine.callbacks.settings_changes import AccountSecrets
from engine.callbacks.transport import Delivered, Failed, Gone, Outcome, SignedEvent
from engine.callbacks.transports.http import ApiRequestTransport
from engine.webhooks.errors import WebhookFailed
from tests.harness.memory_store.store import MemoryStore
from wire.callbacks.targets import ApiRequestTarget, DeliveryTarget, GrpcTarget, HttpsTarget
from wire.events.call_events import VERSION

NOW_S = 1_700_000_000.25
URL = "https://a.example/hook"


class Target:
    """A target with a fixed answer."""

    def __init__(self, outcome: Outcome) -> None:
        self.got: list[tuple[DeliveryTarget, SignedEvent]] = []
        self._outcome = outcome

    async def deliver(self, target: DeliveryTarget, event: SignedEvent) -> Outcome:
        self.got.append((target, event))
        return self._outcome


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [(Delivered(), ""), (Gone(), "gone"), (Failed("status_500", 30.0), "status_500")],
)
async def test_a_test_event_is_sent_once(outcome: Outcome, reason: str) -> None:
    """With all fields that events have, signed like them, and without a call of the account."""
    targets = AccountSettings(
        MemoryStore().callback_queue, lambda: int(NOW_S * 1_000), AccountSecrets(b"key")
    )
    target, other = Target(outcome), Target(Delivered())
    tester = CallbackTester(
        targets, {HttpsTarget: target, GrpcTarget: other}, lambda: NOW_S, lambda: "7"
    )
    result = await tester.send("acme", URL)
    assert (result.event_id, result.target) == ("test-7", URL)
    assert (result.delivered, result.reason) == (not reason, reason)
    assert 0 <= result.took_ms < 1_000
    ((sent_to, event),) = target.got
    assert (sent_to, other.got) == (HttpsTarget(URL), [])
    assert (event.account, event.id) == ("acme", "test-7")
    signer = await targets.signer("acme")
    assert event.headers == signer.headers("test-7", NOW_S, event.body, URL)
    assert json.loads(event.body) == {
        "id": "test-7", "event": "test", "sequenceNumber": 0, "timestamp": 1_700_000_000_250,
        "callId": "test-7", "accountId": "acme", "callStatus": "completed",
        "direction": "outbound", "from": "", "to": "", "version": VERSION,
    }  # fmt: skip


class Sender:
    """Sends an account's API requests, or fails."""

    def __init__(self, error: WebhookFailed | None) -> None:
        self.sent: list[tuple[str, str, Mapping[str, Any], str]] = []
        self._error = error

    async def deliver(self, account: str, api: str, event: Mapping[str, Any], key: str) -> None:
        self.sent.append((account, api, event, key))
        if self._error is not None:
            raise self._error


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (None, Delivered()),
        (WebhookFailed("status_410", "", (), "30"), Gone()),
        (WebhookFailed("status_503", "", (), "30"), Failed("status_503", 30.0)),
        (WebhookFailed("timeout", "", ()), Failed("timeout")),
    ],
)
async def test_an_event_is_sent_by_a_request_of_the_account(
    error: WebhookFailed | None, outcome: Outcome
) -> None:
    """The event's id is its idempotency key; an answer means the same as elsewhere."""
    sender = Sender(error)
    transport = ApiRequestTransport(sender, lambda: NOW_S)
    event = SignedEvent("acme", "e1", b'{"event":"initiated"}')
    assert await transport.deliver(ApiRequestTarget("a" * 24), event) == outcome
    assert sender.sent == [("acme", "a" * 24, {"event": "initiated"}, "e1")]
