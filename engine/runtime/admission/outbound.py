"""Outbound calls: each gets a shard of this engine, and an id that names it."""

import asyncio
from weakref import WeakValueDictionary

from msgspec.structs import asdict, replace

from engine.calls.model.call import Call
from engine.calls.model.call_states import Starting
from engine.calls.model.leg import Leg
from engine.calls.verbs.dial import dial_data
from engine.runtime.admission.config import AdmissionConfig, CallIdTails, NewCall
from engine.runtime.admission.inbound_routes import DefaultTargetLookup
from engine.runtime.admission.local_calls import LocalCalls
from engine.runtime.admission.node_selection import NoCapacity
from engine.runtime.agents.phone_locator import AgentNodes
from engine.runtime.base.context import EngineContext
from engine.runtime.shard.control_requests import NotOwner, awaiting_commit
from engine.runtime.shard.shard import CallShard
from wire import verbs
from wire.answer_detection import MachineDetection, detection_settings
from wire.call_id_format import call_id, shard_of
from wire.callbacks.targets import AUTO_SET, CallTarget, parse_call_target
from wire.party import Party
from wire.phone_numbers.international_form import dialled, international
from wire.rpc import Originate
from wire.verbs import Action, Verb


class OutboundCalls:
    """Starts requested calls."""

    def __init__(
        self,
        context: EngineContext,
        local: LocalCalls,
        settings: AdmissionConfig,
        default_target: DefaultTargetLookup,
        agents: AgentNodes | None = None,
    ) -> None:
        self._store = context.store
        self._clock = context.clock
        self._link_call = context.link_call
        self._local = local
        self._settings = settings
        self._default_target = default_target
        self._agents = agents
        self._ids = CallIdTails(context.random_bytes)
        self._requests: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def originate(self, request: Originate, *, may_pass_on: bool = False) -> Call:
        """Start a call and return it once it is stored; the same request again returns that call.

        Raises NoCapacity, NotOwner, StoreDown; LighterLoadElsewhere, if it may be passed on.
        """
        url = request.status_callback_url
        if url is None or url == AUTO_SET:
            url = await self._default_target(request.account)
        nodes = await self._phone_nodes(request)
        target = parse_call_target(url, "statusCallbackUrl") if url else None
        if not request.request_id:
            shard = self._choose(request, nodes, may_pass_on)
            # No await from here on: of a shard that is lost, the node would seem disconnected.
            return await self._start(request, shard, self._ids.new(self._clock.now_ms()), target)
        async with self._requests.setdefault(request.request_id, asyncio.Lock()):
            return await self._originate_once(
                request, request.request_id, nodes, target, may_pass_on
            )

    async def _originate_once(
        self,
        request: Originate,
        tail: str,
        nodes: frozenset[str],
        target: CallTarget | None,
        may_pass_on: bool,
    ) -> Call:
        """Start the call of a request, or return the one that it has.

        The store says which call that is, and its shard's owner decides whether it has started.
        """
        reserved = await self._store.request_of(tail)
        if reserved is None:
            wanted = call_id(self._choose(request, nodes, may_pass_on).context.id, tail)
            reserved = await self._store.reserve_request(tail, wanted)
        if (call := await self._existing(reserved)) is not None:
            return call
        by_trunk, selection = _is_by_trunk(request), self._local.node_selection
        shard = self._local.shard(reserved)
        other = selection.other_with_room(request.node, by_trunk, nodes)
        if other or not selection.has_room(shard, by_trunk):  # what it had has no room now
            wanted = call_id(other or self._choose(request, nodes).context.id, tail)
            reserved = await self._store.reserve_request(tail, wanted, instead_of=reserved)
            if reserved != wanted or other:
                raise NotOwner(shard_of(reserved))
            shard = self._local.shard(reserved)
        return await self._start(request, shard, tail, target)

    async def _existing(self, reserved: str) -> Call | None:
        """Return a request's call if it has started; raises NotOwner unless its shard is here."""
        if (found := self._local.find(reserved)) is None:
            shard = shard_of(reserved)
            if shard is None or not self._local.owns(shard):
                raise NotOwner(shard)
            stored = await self._local.read(reserved)
            if stored is not None:
                return stored
            if not self._local.owns(shard):
                raise NotOwner(shard)
            found = self._local.find(reserved)
        return found[1].call if found else None

    def _choose(
        self, request: Originate, nodes: frozenset[str], may_pass_on: bool = False
    ) -> CallShard:
        return self._local.node_selection.choose(
            request.node, _is_by_trunk(request), nodes, may_pass_on=may_pass_on
        )

    async def _phone_nodes(self, request: Originate) -> frozenset[str]:
        """Return the nodes at which the phone of the first party, an agent, is registered."""
        agent_id = Party.parse(first_party(request)).agent_id
        if agent_id is None or self._agents is None:
            return frozenset()
        return await self._agents.nodes_of(request.account, agent_id)

    def _build(
        self, request: Originate, shard: CallShard, suffix: str, target: CallTarget | None
    ) -> Call:
        now = self._clock.now_ms()
        new = self._settings.new_call(shard.context, request.account, suffix, now)
        if request.is_recorded and new.recording_destination is None:
            raise NoCapacity(
                "no_archive", "recordings can't be kept: see recordings_url, ami_password"
            )
        return outbound_call(new, request, self._settings.caller_id, target)

    async def _start(
        self, request: Originate, shard: CallShard, tail: str, target: CallTarget | None
    ) -> Call:
        self._local.node_selection.count_outbound(shard, _is_by_trunk(request))
        call = self._build(request, shard, tail, target)
        self._link_call(call.id)
        with awaiting_commit(shard.pending_acks) as ack:
            live_call = shard.start_call(call, ack.confirm)
            # It starts once the store is back: say so, or the caller would request it twice.
            await ack.wait(f"call {call.id} is not stored yet")
        return live_call.call


def outbound_call(
    new: NewCall, request: Originate, default_caller_id: str, target: CallTarget | None = None
) -> Call:
    """Build a requested call; the default caller id is shown when `from` is not a number."""
    main, now = f"{new.id}.l0", new.created_ms
    from_, to = dialled(request.from_, new.region), dialled(request.to, new.region)
    is_number = Party.parse(from_).kind == "number"
    from_number = from_ if is_number else default_caller_id
    leg = Leg(
        main, from_ if request.from_first else to, "requested", now,
        ring_timeout_s=request.timeout, is_caller=request.from_first,
    )  # fmt: skip
    return Call(
        id=new.id,
        account=request.account,
        direction="outbound",
        from_=from_,
        to=to,
        main=main,
        legs=(leg,),
        state=_starting(request, now + int(request.timeout * 1000)),
        created_ms=now,
        must_end_ms=new.must_end_ms,
        caller_id=international(request.caller_id or from_number, new.region),
        id_seq=1,
        custom_data=request.custom_data,
        contact=request.contact,
        recording_destination=new.recording_destination,
        recording_enabled=new.recording_destination is not None and request.is_recorded,
        labels=request.labels,
        callback_target=target,
        trunks=new.trunks,
        region=new.region,
    )


def _is_by_trunk(request: Originate) -> bool:
    return Party.parse(first_party(request)).is_by_trunk


def first_party(request: Originate) -> str:
    return request.from_ if request.from_first else request.to


def _starting(request: Originate, until_ms: int) -> Starting:
    detection = detection_settings(request.machine_detection)
    if detection is None or request.from_first:
        return Starting(_action(request), until_ms, fallback=request.fallback)
    on_machine = _on_machine(request)
    return Starting(_action(request), until_ms, detection, on_machine, request.fallback)


def _action(request: Originate) -> Action | None:
    action = request.action
    if request.flow_id is not None:
        action = verbs.Flow(verbs.FlowData(request.flow_id), action)
    if not request.from_first:
        return action
    data = replace(dial_data(request.to), machine_detection=_dial_detection(request))
    return verbs.Dial(data, action, request.timeout)


def _dial_detection(request: Originate) -> MachineDetection | bool:
    detection = detection_settings(request.machine_detection)
    if detection is None:
        return False
    hangs_up = _on_machine(request) == "hangup"
    return MachineDetection(**asdict(detection), on_machine="hangup" if hangs_up else "continue")


def _on_machine(request: Originate) -> Verb | str:
    detection = request.machine_detection
    return "continue" if isinstance(detection, bool) else detection.on_machine
