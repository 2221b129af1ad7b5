"""Wrappers of a PBX connection: timed, fenced by the slot's lease, traced."""

from collections.abc import Callable

from msgspec import Struct

from engine.ari.request import LOST, OnReply, Reply, Request
from engine.observe.metrics import Metrics
from engine.observe.telemetry import Traces
from engine.runtime.base.interfaces import Pbx
from engine.store.store import LeaseView
from wire.call_id_format import shard_of

WEIGHT = 0.05  # of the newest reply: the average covers about twenty
HALF_LIFE_S = 1.0  # decay without replies: an idle PBX has recovered
_SUCCESS = range(200, 400)


class LatencyAverage:
    """Moving average of PBX response latency, for admission; `monotonic` returns seconds.

    New calls are rejected before live calls suffer. It covers both sides: an Asterisk that is slow
    to answer, and an engine that is slow to read the answer.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self.monotonic = monotonic
        self._average_ms = 0.0
        self._updated_s = monotonic()

    @property
    def average_ms(self) -> float:
        idle_s = self.monotonic() - self._updated_s
        return self._average_ms * float(0.5 ** (idle_s / HALF_LIFE_S))

    def add(self, took_s: float, now_s: float) -> None:
        self._average_ms += WEIGHT * (took_s * 1000 - self._average_ms)
        self._updated_s = now_s


class TimedPbx:
    """Measures the replies to one slot's requests; blocking requests do not count for latency."""

    def __init__(
        self, pbx: Pbx, latency: LatencyAverage, metrics: Metrics, node: str, slot: int
    ) -> None:
        self._pbx = pbx
        self._latency = latency
        self._websocket = metrics.nodes.request_duration.series(node, slot, "websocket")
        self._http = metrics.nodes.request_duration.series(node, slot, "http")
        self._failures = metrics.nodes.request_failures.table(node, slot)

    @property
    def keeps_order(self) -> bool:
        return self._pbx.keeps_order

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        latency = self._latency
        sent_s = latency.monotonic()

        def measured(reply: Reply) -> None:
            now_s = latency.monotonic()
            if may_block:
                self._http.observe(now_s - sent_s)
            else:
                self._websocket.observe(now_s - sent_s)
                latency.add(now_s - sent_s, now_s)
            if reply.status not in _SUCCESS:
                self._failures[str(reply.status or "lost")] += 1
            done(reply)

        self._pbx.send(request, key, may_block, measured)

    async def ask(self, request: Request) -> Reply:
        return await self._pbx.ask(request)


class FencedPbx(Struct, frozen=True):
    """Drops requests once the lease is over; they get no reply.

    The next owner of the slot queries the PBX again.
    """

    pbx: Pbx
    lease: LeaseView

    @property
    def keeps_order(self) -> bool:
        return self.pbx.keeps_order

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        if self.lease.holds:
            self.pbx.send(request, key, may_block, done)

    async def ask(self, request: Request) -> Reply:
        return await self.pbx.ask(request) if self.lease.holds else LOST


class TracedPbx(Struct, frozen=True):
    """Records each request as a span of its call."""

    pbx: Pbx
    traces: Traces

    @property
    def keeps_order(self) -> bool:
        return self.pbx.keeps_order

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        """Forward a request; requests that belong to no call have no span."""
        if shard_of(key) is None:
            self.pbx.send(request, key, may_block, done)
            return
        span = self.traces.start_client_span(_name(request), key)

        def ended(reply: Reply) -> None:
            span.set_attribute("http.response.status_code", reply.status)
            span.end("" if reply.ok else f"status {reply.status}")
            done(reply)

        self.pbx.send(request, key, may_block, ended)

    async def ask(self, request: Request) -> Reply:
        return await self.pbx.ask(request)


def _name(request: Request) -> str:
    parts = request.path.split("/")
    action = "".join(f"/{part}" for part in parts[2:3])  # of channels/{id}/play
    return f"ARI {request.method} {parts[0]}{action}"
