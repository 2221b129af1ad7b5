"""Views of calls, and the fields of their events and commands."""

from typing import Any

import msgspec

from engine.calls.model.call import Call
from engine.calls.model.call_states import Bridged, CallState
from engine.calls.model.leg import Leg
from engine.calls.reporting.call_events import end_reason
from engine.rpc.views.recordings import recording_views
from engine.rpc.views.sessions import conference_view, transfer_view
from wire.base import tag_of
from wire.call_id_format import shard_of
from wire.shard import NO_SHARD
from wire.views import CallView, LegView


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
        media_fault=call.first_media_fault,
        caller_name=call.caller_name,
    )


def _agents(call: Call) -> tuple[str, ...]:
    legs = [*call.legs, *(ended.leg for ended in call.ended_legs)]
    sources = [each.source_agent for each in call.transfers]
    found = [*(leg.agent for leg in legs), *sources]
    return tuple(dict.fromkeys(each for each in found if each))


def state_of(call: Call) -> str:
    return tag_of(call.state)


def _verb_of(state: CallState) -> str:
    verb = state.running_verb
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
        held_by_phone=leg.is_held_by_phone,
    )


def tagged_fields(value: msgspec.Struct) -> dict[str, Any]:
    """Return the fields of an event or a command, with its tag as `type`."""
    fields = {name: getattr(value, name) for name in value.__struct_fields__}
    plain = msgspec.to_builtins(fields, builtin_types=(bytes,))
    body = plain.get("body")
    if isinstance(body, bytes):
        plain["body"] = msgspec.json.decode(body)
    return {"type": tag_of(value), **plain}
