"""Sends a test event to an account's target: once, now, and without a call."""

from collections.abc import Callable, Mapping
from time import perf_counter

import msgspec
from msgspec import Struct

from engine.callbacks.account_settings import AccountSettings
from engine.callbacks.transport import Delivered, Failed, Gone, SignedEvent, Transport, sign
from wire.callbacks.account import CallbackTestResult
from wire.callbacks.targets import parse_delivery_target
from wire.events.call_events import VERSION


class CallbackTester(Struct, frozen=True):
    """Sends test events; `clock` gives wall-clock seconds, `new_id` ids that do not repeat."""

    targets: AccountSettings
    transports: Mapping[type, Transport]
    clock: Callable[[], float]
    new_id: Callable[[], str]

    async def send(self, account: str, name: str) -> CallbackTestResult:
        """Send a test event to a target by its name, once; raises StoreDown before that."""
        event_id, target = f"test-{self.new_id()}", parse_delivery_target(name, "target")
        body = _event(account, event_id, int(self.clock() * 1_000))
        signer = await self.targets.signer(account)
        event = sign(SignedEvent(account, event_id, body), target, signer, self.clock())
        started_s = perf_counter()
        outcome = await self.transports[type(target)].deliver(target, event)
        took_ms = int((perf_counter() - started_s) * 1_000)
        match outcome:
            case Delivered():
                return CallbackTestResult(event_id, name, delivered=True, took_ms=took_ms)
            case Gone():
                return _failed(event_id, name, took_ms, "gone")
            case Failed(reason):
                return _failed(event_id, name, took_ms, reason)


def _failed(event_id: str, name: str, took_ms: int, reason: str) -> CallbackTestResult:
    return CallbackTestResult(event_id, name, delivered=False, took_ms=took_ms, reason=reason)


def _event(account: str, event_id: str, now_ms: int) -> bytes:
    """Return an event that has the fields of every event, and no call of the account."""
    return msgspec.json.encode(
        {
            "id": event_id,
            "event": "test",
            "sequenceNumber": 0,
            "timestamp": now_ms,
            "callId": event_id,
            "accountId": account,
            "callStatus": "completed",
            "direction": "outbound",
            "from": "",
            "to": "",
            "version": VERSION,
        }
    )
