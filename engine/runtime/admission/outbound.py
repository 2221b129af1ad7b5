"""Calls that are made: each gets an id, whose slot is one in which it can begin, and a desk."""

from collections.abc import Callable
from functools import cache, partial
from typing import Protocol

from msgspec.structs import asdict, replace

from engine.calls.model.call import Call
from engine.calls.model.ids import call_id, slot_of
from engine.calls.model.leg import Leg
from engine.calls.model.party import is_by_trunk
from engine.calls.model.recording import RecordingDestination
from engine.calls.model.state import Starting
from engine.calls.verbs.dial import dial_data
from engine.runtime.admission.placement import NoCapacity, Placement
from engine.runtime.admission.routes import DefaultTargetLookup
from engine.runtime.admission.settings import CallIds, CallSettings
from engine.runtime.base.clock import Clock
from engine.runtime.shard.actor import Actor
from engine.runtime.shard.commit_ack import NotOwner, awaiting_commit
from engine.runtime.shard.shard import CallShard
from wire import verbs
from wire.answer_detection import MachineDetection, detection_settings
from wire.callback_targets import CallTarget, parse_call_target
from wire.rpc import Originate
from wire.verbs import Action, Verb

MAX_ID_ATTEMPTS = 256  # the only one of 64 slots that is ours is missed once in 50 times


class LocalCalls(Protocol):
    """What is known of the calls and slots of this engine; `switch.Switch` is the real one."""

    placement: Placement
    follow: Callable[[str], None]

    def owns(self, slot: int) -> bool:
        """Tell whether a slot is this engine's."""

    def owned_slots(self) -> set[int]:
        """Tell which slots are this engine's."""

    def find(self, call: str) -> tuple[CallShard, Actor] | None:
        """Find a live call of this engine."""

    async def read(self, call: str) -> Call | None:
        """Read a call, live or ended; raises StoreDown."""


class OutboundCalls:
    """Makes the calls that are asked for."""

    def __init__(
        self,
        calls: LocalCalls,
        clock: Clock,
        rules: CallSettings,
        tails: CallIds,
        told: DefaultTargetLookup,
    ) -> None:
        self._calls = calls
        self._clock = clock
        self._rules = rules
        self._tails = tails
        self._told = told

    async def originate(self, asked: Originate) -> Call:
        """Start a call and return it once it is stored; raises NoRoom, Elsewhere, StoreDown."""
        if asked.request_id and (known := await self._existing(asked.request_id)):
            return known
        told = asked.status_callback_url or await self._told(asked.account)
        # Nothing is waited for from here on: with a slot that went, its node would seem away.
        tail = asked.request_id or self._heard_tail(asked, self._clock.now_ms())
        slot = slot_of(tail, self._rules.slots)
        if not self._calls.owns(slot):
            raise NotOwner(slot if asked.request_id else None)
        target = parse_call_target(told, "statusCallbackUrl") if told else None
        by_trunk = is_by_trunk(first_party(asked))
        desk = self._calls.placement.choose(asked.node, slot, by_trunk=by_trunk)
        return await self._begun(self._made(asked, desk, tail, target), desk)

    def _made(
        self, asked: Originate, desk: CallShard, tail: str, target: CallTarget | None
    ) -> Call:
        now = self._clock.now_ms()
        chosen = call_id(desk.context.slot, desk.context.node, tail)
        archive = self._rules.archive(desk.context, asked.account, now)
        if asked.is_recorded and archive is None:
            raise NoCapacity(
                "no_archive", "recordings can't be kept: see recordings_url, ami_password"
            )
        latest_ms, shown = now + self._rules.max_duration_ms, self._rules.caller_id
        return outbound_call(chosen, asked, now, latest_ms, shown, archive, target)

    async def _begun(self, call: Call, desk: CallShard) -> Call:
        self._calls.follow(call.id)
        with awaiting_commit(desk.pending_acks) as promise:
            actor = desk.start_call(call, promise.confirm)
            # It begins as soon as the store is back: say so rather than let it be asked twice.
            await promise.wait(f"call {call.id} is not stored yet")
        return actor.call

    async def _existing(self, request_id: str) -> Call | None:
        slot = slot_of(request_id, self._rules.slots)
        ids = [call_id(slot, name, request_id) for name in self._calls.placement.nodes]
        stored = [await self._calls.read(each) for each in ids]
        # Asked again without a pause in between: the same request may have come twice at once.
        live = [found[1].call for each in ids if (found := self._calls.find(each))]
        return next((call for call in [*live, *stored] if call), None)

    def _heard_tail(self, asked: Originate, now_ms: int) -> str:
        """Choose an id that falls to a slot in which the call can begin, if there is one."""
        by_trunk = is_by_trunk(first_party(asked))
        has_room = cache(partial(self._calls.placement.has_room, asked.node, by_trunk=by_trunk))
        ours = self._calls.owned_slots()
        return (
            self._tail_in(has_room, now_ms)
            or self._tail_in(ours.__contains__, now_ms)
            or self._tails.new(now_ms)
        )

    def _tail_in(self, fits: Callable[[int], bool], now_ms: int) -> str | None:
        """Find an id whose slot fits, if that does not take too many tries."""
        tails = (self._tails.new(now_ms) for _ in range(MAX_ID_ATTEMPTS))
        return next((each for each in tails if fits(slot_of(each, self._rules.slots))), None)


def outbound_call(  # noqa: PLR0913, PLR0917 - what a call is made of
    call_id: str,
    asked: Originate,
    now: int,
    latest_ms: int,
    caller_id: str,
    archive: RecordingDestination | None = None,
    target: CallTarget | None = None,
) -> Call:
    """Make the call of an originate; caller_id is what is shown when `from` is no number."""
    main = f"{call_id}.l0"
    shown = asked.caller_id or (asked.from_ if _is_number(asked.from_) else caller_id)
    return Call(
        id=call_id,
        account=asked.account,
        direction="outbound",
        from_=asked.from_,
        to=asked.to,
        main=main,
        legs=(Leg(main, first_party(asked), "requested", now, ring_timeout_s=asked.timeout),),
        state=_starting(asked, now + int(asked.timeout * 1000)),
        created_ms=now,
        must_end_ms=latest_ms,
        caller_id=shown,
        id_seq=1,
        custom_data=asked.custom_data,
        contact=asked.contact,
        recording_destination=archive,
        recording_enabled=archive is not None and asked.is_recorded,
        labels=asked.labels,
        callback_target=target,
    )


def first_party(asked: Originate) -> str:
    """Tell who is called first."""
    return asked.from_ if asked.from_first else asked.to


def _starting(asked: Originate, until_ms: int) -> Starting:
    detection = detection_settings(asked.machine_detection)
    if detection is None or asked.from_first:
        return Starting(_tree(asked), until_ms)
    return Starting(_tree(asked), until_ms, detection, _on_machine(asked))


def _tree(asked: Originate) -> Action | None:
    action = asked.action
    if asked.flow_id is not None:
        action = verbs.Flow(verbs.FlowData(asked.flow_id), action)
    if not asked.from_first:
        return action
    data = replace(dial_data(asked.to), machine_detection=_on_dial(asked))
    return verbs.Dial(data, action, asked.timeout)


def _on_dial(asked: Originate) -> MachineDetection | bool:
    detection = detection_settings(asked.machine_detection)
    if detection is None:
        return False
    hangs_up = _on_machine(asked) == "hangup"
    return MachineDetection(**asdict(detection), on_machine="hangup" if hangs_up else "continue")


def _on_machine(asked: Originate) -> Verb | str:
    detection = asked.machine_detection
    return "continue" if isinstance(detection, bool) else detection.on_machine


def _is_number(party: str) -> bool:
    return not party.startswith(("agent:", "sip:", "sips:"))
