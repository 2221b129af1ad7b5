"""Outbound calls: each gets an id whose slot can start it, and a shard."""

from collections.abc import Callable
from functools import cache, partial
from typing import Protocol

from msgspec.structs import asdict, replace

from engine.calls.model.call import Call
from engine.calls.model.call_id_format import call_id, slot_of
from engine.calls.model.call_states import Starting
from engine.calls.model.leg import Leg
from engine.calls.verbs.dial import dial_data
from engine.runtime.admission.call_id_tail_generator import CallIdTails
from engine.runtime.admission.config import AdmissionConfig, NewCall
from engine.runtime.admission.inbound_routes import DefaultTargetLookup
from engine.runtime.admission.node_selection import NoCapacity, NodeSelection
from engine.runtime.agents.phone_locator import AgentNodes
from engine.runtime.base.context import EngineContext
from engine.runtime.shard.errors import NotOwner
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.request_ack import awaiting_commit
from engine.runtime.shard.shard import CallShard
from wire import verbs
from wire.answer_detection import MachineDetection, detection_settings
from wire.callbacks.targets import AUTO_SET, CallTarget, parse_call_target
from wire.party import Party
from wire.rpc import Originate
from wire.verbs import Action, Verb

MAX_ID_ATTEMPTS = 256  # misses the only owned slot of 64 once in 50 times


class LocalCalls(Protocol):
    """This engine's calls and slots; see `call_service.CallService`."""

    node_selection: NodeSelection

    def owns(self, slot: int) -> bool:
        """Return whether a slot is this engine's."""

    def owned_slots(self) -> set[int]:
        """Return this engine's slots."""

    def find(self, call: str) -> tuple[CallShard, LiveCall] | None:
        """Find a live call of this engine."""

    async def read(self, call: str) -> Call | None:
        """Read a call, live or ended; raises StoreDown."""


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
        self._clock = context.clock
        self._link_call = context.link_call
        self._local = local
        self._settings = settings
        self._default_target = default_target
        self._agents = agents
        self._ids = CallIdTails(context.random_bytes)

    async def originate(self, request: Originate) -> Call:
        """Start a call and return it once it is stored.

        Raises NoCapacity, NotOwner, StoreDown.
        """
        url = request.status_callback_url
        if url is None or url == AUTO_SET:
            url = await self._default_target(request.account)
        nodes = await self._phone_nodes(request)
        if request.request_id and (call := await self._existing(request.request_id)):
            return call
        # No await from here on: an identical request would start the call a second time, and if
        # a slot were lost meanwhile, its node would seem disconnected.
        suffix = request.request_id or self._new_id(request, self._clock.now_ms())
        slot = slot_of(suffix, self._settings.slots)
        if not self._local.owns(slot):
            raise NotOwner(slot if request.request_id else None)
        target = parse_call_target(url, "statusCallbackUrl") if url else None
        by_trunk = Party.parse(first_party(request)).is_by_trunk
        node_selection = self._local.node_selection
        shard = node_selection.choose(request.node, slot, by_trunk=by_trunk, preferred=nodes)
        return await self._start(self._build(request, shard, suffix, target), shard)

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

    async def _start(self, call: Call, shard: CallShard) -> Call:
        self._link_call(call.id)
        with awaiting_commit(shard.pending_acks) as ack:
            live_call = shard.start_call(call, ack.confirm)
            # It starts once the store is back: say so, or the caller would request it twice.
            await ack.wait(f"call {call.id} is not stored yet")
        return live_call.call

    async def _existing(self, request_id: str) -> Call | None:
        slot = slot_of(request_id, self._settings.slots)
        ids = [call_id(slot, name, request_id) for name in self._local.node_selection.nodes]
        stored = [await self._local.read(each) for each in ids]
        # Checked after the last await: the same request may have come twice at once.
        live = [found[1].call for each in ids if (found := self._local.find(each))]
        return next((call for call in [*live, *stored] if call), None)

    def _new_id(self, request: Originate, now_ms: int) -> str:
        """Choose an id of a slot in which the call can start, if there is one."""
        by_trunk = Party.parse(first_party(request)).is_by_trunk
        has_room = cache(
            partial(self._local.node_selection.has_room, request.node, by_trunk=by_trunk)
        )
        owned = self._local.owned_slots()
        return (
            self._new_id_in(has_room, now_ms)
            or self._new_id_in(owned.__contains__, now_ms)
            or self._ids.new(now_ms)
        )

    def _new_id_in(self, fits: Callable[[int], bool], now_ms: int) -> str | None:
        """Choose an id of a slot that fits, unless that takes too many attempts."""
        ids = (self._ids.new(now_ms) for _ in range(MAX_ID_ATTEMPTS))
        return next((each for each in ids if fits(slot_of(each, self._settings.slots))), None)


def outbound_call(
    new: NewCall, request: Originate, default_caller_id: str, target: CallTarget | None = None
) -> Call:
    """Build a requested call; the default caller id is shown when `from` is not a number."""
    main, now = f"{new.id}.l0", new.created_ms
    is_number = Party.parse(request.from_).kind == "number"
    from_number = request.from_ if is_number else default_caller_id
    leg = Leg(
        main, first_party(request), "requested", now,
        ring_timeout_s=request.timeout, is_caller=request.from_first,
    )  # fmt: skip
    return Call(
        id=new.id,
        account=request.account,
        direction="outbound",
        from_=request.from_,
        to=request.to,
        main=main,
        legs=(leg,),
        state=_starting(request, now + int(request.timeout * 1000)),
        created_ms=now,
        must_end_ms=new.must_end_ms,
        caller_id=request.caller_id or from_number,
        id_seq=1,
        custom_data=request.custom_data,
        contact=request.contact,
        recording_destination=new.recording_destination,
        recording_enabled=new.recording_destination is not None and request.is_recorded,
        labels=request.labels,
        callback_target=target,
        trunks=new.trunks,
    )


def first_party(request: Originate) -> str:
    return request.from_ if request.from_first else request.to


def _starting(request: Originate, until_ms: int) -> Starting:
    detection = detection_settings(request.machine_detection)
    if detection is None or request.from_first:
        return Starting(_action(request), until_ms)
    return Starting(_action(request), until_ms, detection, _on_machine(request))


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
