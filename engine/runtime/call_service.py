"""The calls of one engine: starts them, finds them, and passes requests to them."""

import asyncio
from collections.abc import Iterator

import structlog

from base.tasks import wait_for_event
from engine.calls.model.call import Call
from engine.calls.model.causes import EndedBy
from engine.calls.model.requests import CallRequest, ControlRequest, HangupRequested
from engine.calls.model.storage_format import StoredCall
from engine.calls.sessions.preconditions import Rejection, check_request
from engine.runtime.admission.config import AdmissionConfig
from engine.runtime.admission.inbound import InboundCalls
from engine.runtime.admission.inbound_routes import (
    DefaultTargetLookup,
    InboundRoutes,
    no_default_target,
)
from engine.runtime.admission.local_calls import LocalCalls
from engine.runtime.admission.node_selection import NoCapacity, NodeSelection
from engine.runtime.admission.outbound import OutboundCalls
from engine.runtime.agents.directory import Directory
from engine.runtime.agents.phone_locator import AgentNodes, PhoneLocator
from engine.runtime.agents.phone_logins import PhoneReports
from engine.runtime.base.context import EngineContext
from engine.runtime.pbx_nodes.node import IncomingChannel
from engine.runtime.policy.capacity_limits import ClusterLoad
from engine.runtime.policy.operator_stops import DrainedNodes
from engine.runtime.shard.control_requests import NotOwner, RequestRejected, awaiting_commit
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.shard import CallShard
from wire.rpc import Originate
from wire.shard import ShardId

CONNECT_TIMEOUT_S = 1


class CallService(LocalCalls):
    """What RPC handlers and nodes call; the shards hold the calls themselves."""

    def __init__(
        self,
        context: EngineContext,
        settings: AdmissionConfig,
        directory: Directory | None = None,
        cluster: ClusterLoad | None = None,
        default_target: DefaultTargetLookup = no_default_target,
    ) -> None:
        self.drained_nodes = DrainedNodes(context.store)
        nodes = NodeSelection(
            context.clock,
            settings,
            cluster,
            context.metrics,
            drained=lambda: self.drained_nodes.nodes,
        )
        super().__init__(context.store, settings.shards, nodes)
        self.phone_reports = PhoneReports(
            lambda: context.clock.now_ms() - context.clock.offset_ms  # the store's time
        )
        self.phones = PhoneLocator(self.node_selection.nodes, self.phone_reports.logins)
        self._clock = context.clock
        self._link_call = context.link_call
        agents = AgentNodes(directory, self.phones) if directory is not None else None
        self._outbound = OutboundCalls(context, self, settings, default_target, agents)
        routes = InboundRoutes(context.store, context.clock.now_ms, default_target=default_target)
        self._inbound = InboundCalls(context, self.node_selection, settings, routes, directory)

    def now_ms(self) -> int:
        """Return the wall clock of this engine's calls."""
        return self._clock.now_ms()

    @property
    def live_calls(self) -> int:
        return self.node_selection.live_calls

    def calls(self) -> Iterator[Call]:
        return self.node_selection.calls()

    def owned_shards(self) -> list[ShardId]:
        return [ShardId(node.name, slot) for node in self.nodes.values() for slot in node.shards]

    async def originate(self, request: Originate, *, may_pass_on: bool = False) -> Call:
        return await self._outbound.originate(request, may_pass_on=may_pass_on)

    def handle_incoming(self, shard: CallShard, channel: IncomingChannel) -> None:
        """Start the call of an incoming channel, or reject it."""
        self._inbound.handle(shard, channel)

    def check_replacement(self, shard: CallShard, channel: str, endpoint: str) -> None:
        """Hang up a leg that has taken a place in a call if it is another account's phone."""
        self._inbound.check_replacement(shard, channel, endpoint)

    async def request(self, call: str, event: ControlRequest) -> Call:
        """Apply a request to a live call and return the call once that is stored.

        Raises RequestRejected, NotOwner, NoCapacity while its node or the store is down, and
        StoreDown when storing takes long.
        """
        shard, live_call = self.find(call) or (None, None)
        if shard is None or live_call is None:
            self.check_owned(call)
            raise RequestRejected(
                Rejection("conflict", "call_ended", f"call {call} is not live here")
            )
        if not shard.is_paused:
            shard.deliver_logged_digits(live_call)
        if rejection := check_request(live_call.call, event):
            raise RequestRejected(rejection)
        self._check_lease(shard)
        if shard.is_paused:
            node = shard.context.node
            raise NoCapacity("node_away", f"PBX node {node} is not connected now")
        return await self._apply(shard, live_call, event)

    async def await_node(self, call: str) -> None:
        """Wait a moment for the node of a live call that is just being recovered."""
        shard, _ = self.find(call) or (None, None)
        if shard is not None and shard.is_paused and shard.context.id not in self.releasing:
            await wait_for_event(shard.pause_buffer.resumed, CONNECT_TIMEOUT_S)

    async def hang_up(self, call: str, by: EndedBy) -> bool:
        """End a live call, even while its node is disconnected; False when it is not live here.

        It is stored when this returns, so the next owner of the shard ends the call, too. Raises
        NotOwner, NoCapacity once another engine may have the shard, StoreDown when storing takes
        long.
        """
        shard, live_call = self.find(call) or (None, None)
        if shard is None or live_call is None:
            self.check_owned(call)
            return False
        self._check_lease(shard)
        shard.deliver_logged_digits(live_call)
        await self._apply(shard, live_call, HangupRequested(by))
        return True

    def adopt(self, at: ShardId, stored: StoredCall) -> None:
        """Continue a stored call; its shard runs it once the node is connected."""
        shard = self.nodes[at.node].shards[at.slot]
        live_call = shard.adopt(LiveCall(stored.call, stored.outbox, stored.log_length))
        shard.adopt_clock(live_call, stored.clock_offset_ms)
        shard.prefetch(live_call)

    def change_clock(self, by_ms: int) -> None:
        """Move the times of all live calls after the engine's clock was corrected."""
        for node in self.nodes.values():
            node.change_clock(by_ms)

    @property
    def clock_offset_ms(self) -> int:
        """How far this engine's clock is ahead of the store's."""
        return self._clock.offset_ms

    def _check_lease(self, shard: CallShard) -> None:
        """Raise NotOwner when a shard is being handed over, NoCapacity when its lease is over."""
        if shard.context.id in self.releasing:
            raise NotOwner(shard.context.id)
        if not shard.context.lease.holds:
            raise NoCapacity("no_owner", "the call's engine can't be sure of its shard now")

    async def _apply(self, shard: CallShard, live_call: LiveCall, event: CallRequest) -> Call:
        """Apply a request and return the call as it is then, once that is stored."""
        self._link_call(live_call.call.id)
        with awaiting_commit(shard.pending_acks) as ack:
            shard.request(live_call, event, ack.confirm)
            after = live_call.call  # later requests may not be stored yet
            await ack.wait(f"call {after.id} took it, and it is not stored yet")
        return after


log = structlog.get_logger()


class AccountCalls:
    """The live calls of this engine, by account; a call is hung up once."""

    def __init__(self, service: CallService) -> None:
        self._service = service
        self._hung_up: set[str] = set()

    async def hang_up(self, accounts: frozenset[str]) -> None:
        """Hang up all calls of accounts; what fails now is repeated with the next request."""
        live = {call.id for call in self._service.calls() if call.account in accounts}
        self._hung_up &= live
        ids = sorted(live - self._hung_up)
        hangups = (self._service.hang_up(each, "system") for each in ids)
        results = await asyncio.gather(*hangups, return_exceptions=True)
        for call_id, result in zip(ids, results, strict=True):
            if isinstance(result, BaseException):
                log.warning("call of a stopped account not hung up", call_id=call_id)
            else:
                self._hung_up.add(call_id)
