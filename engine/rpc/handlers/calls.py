"""RPC operations that start, list and show calls."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import cast, get_args

from aiohttp import web
from msgspec import Struct
from msgspec.structs import replace

from base.timeline.rows import Reader
from engine.rpc.agent_checks import check_agent_exists
from engine.rpc.handlers.callbacks import check_callback_target
from engine.rpc.handlers.dial_policy import (
    check_dial_policy,
    check_new_call,
)
from engine.rpc.handlers.document_checks import check_flow_ids
from engine.rpc.lookup import call_of, live_calls
from engine.rpc.middleware.forwarding import may_pass_on
from engine.rpc.peers.fan_out import FanOut
from engine.rpc.problems import Conflict
from engine.rpc.views.calls import call_view
from engine.rpc.views.replay_points import TimelineCursor
from engine.rpc.views.timelines import CallHistory, TimelineTurns, build_timeline
from engine.runtime.agents.agent_presence import AgentPresence
from engine.runtime.call_service import CallService
from engine.runtime.policy.dial_policy import DialPolicy
from engine.store.store import Store
from engine.store.webhook_log import StoredAttempt
from wire import rpc
from wire.call_id_format import shard_of
from wire.custom_data import check_custom_data
from wire.decoding.errors import BadInput, ErrorCollector
from wire.shard import NO_SHARD
from wire.tree import Limits, check_action, check_party, flow_ids
from wire.views import Calls, CallView, Timeline


class CallHandlers(Struct, frozen=True):
    service: CallService
    store: Store
    limits: Limits
    fan_out: FanOut
    dial_policy: DialPolicy
    timelines: TimelineTurns
    agents: AgentPresence

    async def originate(self, request: web.Request, body: rpc.Originate) -> rpc.StartedCall:
        """Start a call, or return the call that this requestId already started."""
        await self._check(body)
        call = await self.service.originate(body, may_pass_on=may_pass_on(request))
        if call.account != body.account:
            raise Conflict("the requestId is in use")
        return rpc.StartedCall(call.id)

    async def _check(self, body: rpc.Originate) -> None:
        """Check the whole request; raises BadInput with all errors, StoreDown, NoCapacity."""
        collector, account = ErrorCollector(), body.account
        recognizers = await self.dial_policy.recognizers(account)
        for check in _checks(body, replace(self.limits, recognizers=recognizers)):
            with collector.check():
                check()
        with collector.check():
            await check_callback_target(self.store, account, body.status_callback_url)
        with collector.check():
            await check_flow_ids(self.store, account, _flow_ids(body))
        parties = ((body.from_, "from"), (body.to, "to"))
        for party, path in parties if body.from_first else parties[1:]:
            with collector.check():
                await check_dial_policy(self.dial_policy, account, party, path)
                await check_agent_exists(self.agents, account, party, path)
        collector.raise_all()
        await check_new_call(self.dial_policy, account)

    async def list(self, request: web.Request) -> Calls:
        """List the live calls of all engines, or of one account."""
        remote = [calls.calls for calls in await self.fan_out.collect(request, Calls)]
        local = map(call_view, live_calls(self.service, request.query.get("account")))
        # A call that moves between engines may be reported by both.
        views = {view.call_id: view for view in chain(*remote, local)}
        return Calls(tuple(views.values()))

    async def get(self, request: web.Request) -> CallView:
        return call_view(await call_of(self.service, request, request.query.get("account")))

    async def timeline(self, request: web.Request) -> Timeline:
        """Show a call's timeline; with `after` what is new since the one with that `next`.

        `reader` is who gets it, by default an operator; `attempts=false` leaves those out.
        """
        after = TimelineCursor.parse(request.query.get("after"))
        reader = request.query.get("reader", "operator")
        if reader not in get_args(Reader):
            raise BadInput("reader", f"expected {', '.join(get_args(Reader))}")
        call = await call_of(self.service, request, request.query.get("account"))
        shard = shard_of(call.id) or NO_SHARD
        async with self.timelines.turn(call.account):
            start = self.timelines.points.before(call.id, after.lines)
            log = await self.store.log(shard, call.id, start.lines)
            attempts: Sequence[StoredAttempt] = ()
            if request.query.get("attempts") != "false":
                log_of_webhooks = self.store.webhook_log
                attempts = await log_of_webhooks.of_call(call.account, call.id, after.attempt)
            history = CallHistory(call, log, attempts, after, start)
            timeline, end = await build_timeline(history, cast("Reader", reader))
        self.timelines.points.add(call.id, end)
        return timeline


def _checks(body: rpc.Originate, limits: Limits) -> Iterator[Callable[[], object]]:
    if body.action is not None:
        yield partial(check_action, body.action, limits, "action")
    yield partial(_check_fallback, body, limits)
    yield partial(check_party, body.from_, limits, "from")
    yield partial(check_party, body.to, limits, "to")
    yield partial(_check_machine_action, body, limits)
    yield partial(check_custom_data, body.custom_data, "customData")
    yield partial(check_custom_data, body.contact, "contact")


def _flow_ids(body: rpc.Originate) -> Iterator[tuple[str, str]]:
    """Yield the path and the id of each flow that the call may run."""
    if body.flow_id is not None:
        yield "flowId", body.flow_id
    if body.action is not None:
        yield from flow_ids(body.action, "action")
    if body.fallback is not None:
        yield from flow_ids(body.fallback, "fallback")
    detection = body.machine_detection
    if not isinstance(detection, bool):
        yield from flow_ids(detection.on_machine, "machineDetection.onMachine")


def _check_fallback(body: rpc.Originate, limits: Limits) -> None:
    if body.fallback is None:
        return
    if body.from_first:
        detail = "only if to is called first; it runs if the first webhook or flow fails"
        raise BadInput("fallback", detail)
    check_action(body.fallback, limits, "fallback")


def _check_machine_action(body: rpc.Originate, limits: Limits) -> None:
    if isinstance(body.machine_detection, bool):
        return
    path = "machineDetection.onMachine"
    match body.machine_detection.on_machine:
        case "continue" | "hangup":
            pass
        case _ if body.from_first:
            raise BadInput(path, "continue or hangup, with fromFirst")
        case action:
            check_action(action, limits, path)
