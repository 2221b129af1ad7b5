"""Views of calls and their timelines."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from engine.calls.model.call import Call
from engine.calls.model.call_id_format import shard_of
from engine.calls.model.call_states import Bridged, CallState
from engine.calls.model.commands import Command, EmitEvent
from engine.calls.model.events import ClockChanged
from engine.calls.model.leg import Leg
from engine.calls.model.sealed_digits import hide_sealed
from engine.calls.model.state_traits import running_verb
from engine.calls.replay_audit import ReplayStep, replay
from engine.calls.reporting.call_events import end_reason
from engine.rpc.views.recordings import recording_views
from engine.rpc.views.sessions import conference_view, transfer_view
from engine.store.webhook_log import StoredAttempt
from engine.webhooks.log.codec import decompress
from wire.base import tag_of
from wire.events.call_events import Kind
from wire.shard import NO_SHARD
from wire.verbs import Verb
from wire.views import CallView, LegView, Timeline, TimelineEntry
from wire.webhook_log import AttemptSummary

_SHOWN: frozenset[Kind] = frozenset({"transfer", "conference", "conference-member", "gathered"})


def call_view(call: Call) -> CallView:
    shard = shard_of(call.id) or NO_SHARD
    return CallView(
        call_id=call.id,
        account=call.account,
        node=shard.node,
        slot=shard.slot,
        direction=call.direction,
        from_=call.from_,
        to=call.to,
        status=call.status,
        state=state_of(call),
        legs=tuple(map(_leg_view, call.legs)),
        created_ms=call.created_ms,
        answered_ms=call.answered_ms,
        ended_ms=call.ended_ms,
        bridge_id=call.state.bridge if isinstance(call.state, Bridged) else None,
        hangup_cause=call.cause,
        ended_by=call.ended_by,
        reason=(end_reason(call) or "") if call.is_ended else call.reason,
        answered_by=call.answered_by or "",
        custom_data=call.custom_data,
        verb=_verb_of(call.state),
        main_channel_id=call.main,
        transfers=tuple(transfer_view(call, each) for each in call.transfers),
        conferences=tuple(conference_view(call, each) for each in call.conferences),
        recordings=recording_views(call),
        privacy=call.privacy,
        diversion=call.diversion,
        agents=_agents(call),
    )


def _agents(call: Call) -> tuple[str, ...]:
    legs = [*call.legs, *(ended.leg for ended in call.ended_legs)]
    sources = [each.source_agent for each in call.transfers]
    found = [*(leg.agent for leg in legs), *sources]
    return tuple(dict.fromkeys(each for each in found if each))


def state_of(call: Call) -> str:
    return tag_of(call.state)


def _verb_of(state: CallState) -> str:
    verb = running_verb(state)
    return tag_of(verb) if verb is not None else ""


def _leg_view(leg: Leg) -> LegView:
    return LegView(
        channel_id=leg.id,
        party=leg.party,
        state=leg.state,
        agent_id=leg.agent or None,
        reference_id=leg.reference_id,
        muted=leg.muted,
        held=leg.is_held,
        answered_by=leg.answered_by or "",
        held_by_phone=leg.held_by_phone,
    )


def timeline_view(call: Call, log: list[bytes], attempts: Sequence[StoredAttempt] = ()) -> Timeline:
    """Build a call's timeline by replaying its log through the core."""
    moments: list[TimelineEntry] = []
    before: Call | None = None
    for step in replay(log):
        commands = tuple(_masked(tagged_fields(each)) for each in step.commands if _is_shown(each))
        verb = running_verb(step.call.state) if _has_started_verb(before, step) else None
        before = step.call
        moments.append(
            TimelineEntry(
                step.at_ms,
                _masked(tagged_fields(step.event)),
                commands,
                state_of(step.call),
                _verb_view(verb) if verb is not None else None,
            )
        )
    return Timeline(call_view(call), tuple(moments), tuple(_summaries(attempts)))


def _masked(value: Any) -> Any:
    """Return a value in which sealed digits are dots."""
    match value:
        case str():
            return hide_sealed(value)
        case dict():
            return {name: _masked(each) for name, each in value.items()}
        case list() | tuple():
            return [_masked(each) for each in value]
        case _:
            return value


def _summaries(attempts: Sequence[StoredAttempt]) -> Iterator[AttemptSummary]:
    """Yield attempts that this version can read."""
    for each in attempts:
        attempt = decompress(each.body)
        if attempt is not None:
            yield attempt.summary(each.id)


def _has_started_verb(before: Call | None, step: ReplayStep) -> bool:
    """Return whether a step has started a verb; the count restarts after some minutes."""
    if before is None or isinstance(step.event, ClockChanged):  # which moves all times
        return before is None and step.call.verbs_started > 0
    is_reset = step.call.verbs_since_ms != before.verbs_since_ms
    return is_reset or step.call.verbs_started > before.verbs_started


def _verb_view(verb: Verb) -> dict[str, Any]:
    return {"type": tag_of(verb), "data": msgspec.to_builtins(verb.data)}


def _is_shown(command: Command) -> bool:
    """Return whether the timeline shows a command; of emitted events, sessions and digits."""
    return not isinstance(command, EmitEvent) or command.event.event in _SHOWN


def tagged_fields(value: msgspec.Struct) -> dict[str, Any]:
    """Return the fields of an event or a command, with its tag as `type`."""
    fields = {name: getattr(value, name) for name in value.__struct_fields__}
    plain = msgspec.to_builtins(fields, builtin_types=(bytes,))
    body = plain.get("body")
    if isinstance(body, bytes):
        plain["body"] = msgspec.json.decode(body)
    return {"type": tag_of(value), **plain}
