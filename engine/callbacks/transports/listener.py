"""Delivers events to the listener of their call, if there is one, and otherwise to their target."""

import time
from collections.abc import Callable
from time import perf_counter

import msgspec
from msgspec import Struct, field

from engine.callbacks.transport import (
    Delivered,
    Failed,
    Gone,
    Outcome,
    SignedEvent,
    Transport,
    reason_of,
)
from engine.callbacks.transports.http import CONTENT_TYPE, RESPONSE_TIMEOUT_S, outcome_of
from engine.listeners import LOST, ListenerExchange, ListenerRegistry
from engine.webhooks.errors import AttemptFailed
from engine.webhooks.log.exchange import NO_LOG, AttemptLog, Received, Sent, exchange
from wire.callbacks.targets import DeliveryTarget, HttpsTarget


class _CallOfEvent(Struct, frozen=True, rename="camel"):
    call_id: str
    direction: str
    to: str
    from_: str = field(name="from")

    @property
    def own_number(self) -> str:
        return self.to if self.direction == "inbound" else self.from_


_decode_call = msgspec.json.Decoder(_CallOfEvent).decode
_LOST = Failed(LOST, is_from_target=False)


class ListenerTransport(Struct, frozen=True):
    """Delivers over `transport` what no listener receives.

    A listener's responses say nothing about the target: they neither stop it nor open its circuit.
    """

    listeners: ListenerRegistry
    transport: Transport
    clock: Callable[[], float] = time.time
    log: AttemptLog = NO_LOG

    async def deliver(self, target: DeliveryTarget, event: SignedEvent) -> Outcome:
        assert isinstance(target, HttpsTarget)  # noqa: S101 - narrows for mypy
        listener = self._listener(event)
        if listener is not None:
            outcome = await self._send(listener, target, event)
            if outcome != _LOST:
                return outcome
        return await self.transport.deliver(target, event)

    def _listener(self, event: SignedEvent) -> ListenerExchange | None:
        if not self.listeners.has(event.account):
            return None
        call = _decode_call(event.body)
        return self.listeners.find(event.account, call.call_id, call.own_number)

    async def _send(
        self, listener: ListenerExchange, target: HttpsTarget, event: SignedEvent
    ) -> Outcome:
        headers = {"Content-Type": CONTENT_TYPE, **event.headers}
        sent = Sent("POST", target.url, headers, event.body, is_to_listener=True)
        started_s, at_ms, received = perf_counter(), int(self.clock() * 1000), Received()
        outcome = await self._outcome(listener, sent, received)
        took_ms, reason = round((perf_counter() - started_s) * 1000), reason_of(outcome)
        self.log.add(exchange(event.subject, event.attempt, at_ms, took_ms, sent, received, reason))
        return outcome

    async def _outcome(self, listener: ListenerExchange, sent: Sent, received: Received) -> Outcome:
        try:
            response = await listener.send(
                sent.method, sent.url, sent.headers, sent.body, RESPONSE_TIMEOUT_S
            )
        except TimeoutError:
            return Failed("timeout", is_from_target=False)
        except AttemptFailed as failure:
            return Failed(failure.reason, is_from_target=False)
        received.begin(response)
        received.body += response.content.body
        match outcome_of(response, self.clock()):
            case Delivered():
                return Delivered(is_from_target=False)
            case Gone():
                return Failed("status_410", is_from_target=False)
            case Failed(reason, retry_after_s):
                return Failed(reason, retry_after_s, is_from_target=False)
