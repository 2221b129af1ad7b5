"""Transfer: the customer moves from the source to a target, which is called meanwhile.

starting -> ringback -> answered -> completed; blind: starting -> ringback -> blind_transferred.
The source of a blind transfer leaves when the target rings: one that can not be reached at all
(offline, unassigned, busy) gives the customer back. After a REFER it stays until the answer.
From every live state: failed (the target), canceled (the source), abandoned (the customer).
`media.plan` derives which legs hear each other in each state.
"""

from msgspec.structs import replace

from engine.calls.hold_and_mute import release_leg
from engine.calls.model import causes
from engine.calls.model.call import (
    Call,
    Step,
    agent_of,
    allocate_id,
    with_leg,
    with_named_agent,
    with_transfer,
)
from engine.calls.model.call_states import Bridged
from engine.calls.model.commands import Command, EmitEvent, Hangup, ReplacedLeg
from engine.calls.model.events import BridgeFailed, Event, LegAnswered, LegEnded, LegRinging
from engine.calls.model.leg import Leg
from engine.calls.model.requests import (
    TransferCancelRequested,
    TransferCompletionRequested,
    TransferRequested,
)
from engine.calls.model.sessions import TargetReason, Transfer
from engine.calls.reporting.call_events import emit_leg, emit_transfer
from engine.calls.sessions.custom_hold_music import fetch_music, next_loop
from engine.calls.sessions.invites import clear_invite, connect, invite
from engine.calls.transfer_and_conference_end import end_conference, end_transfer
from engine.calls.verbs import conversation

MAX_KEPT_TRANSFERS = 20


def start(
    call: Call,
    request: TransferRequested,
    now: int,
    *,
    is_referred: bool = False,
    replaces: ReplacedLeg | None = None,
) -> Step:
    """Call the target, or connect to the call of a leg that it replaces."""
    call, session, ended = _open(call, request, now)
    if replaces is None:
        call, target, commands = invite(call, request.party, request.ring_s, now)
    else:
        call, target, commands = connect(call, request.party, request.ring_s, now, replaces)
    call, music, fetches = fetch_music(clear_invite(call, target), request.music)
    transfer = replace(
        _transfer(call, session, request, target, now), hold_music=music, is_referred=is_referred
    )
    call, event = _store(call, transfer, now)
    return call, (*ended, event, *commands, *fetches)


def start_with(call: Call, request: TransferRequested, target: Leg, now: int) -> Step:
    """Start a transfer to a leg that has arrived from another call."""
    call, session, ended = _open(call, request, now)
    call, initiated = emit_leg(with_leg(call, target), "leg-initiated", target, now)
    call, event = _store(call, _transfer(call, session, request, target.id, now), now)
    return call, (*ended, event, initiated)


def _open(
    call: Call, request: TransferRequested, now: int
) -> tuple[Call, str, tuple[Command, ...]]:
    """Return the session's id; a conference of which only source and customer are left ends."""
    ended: tuple[Command, ...] = ()
    call = with_named_agent(call, request.source, request.source_agent)
    if call.conference is not None:
        call, ended = end_conference(call, call.conference, "transfer", now)
    call, session = allocate_id(call, "t")
    return call, session, ended


def _transfer(
    call: Call, session: str, request: TransferRequested, target: str, now: int
) -> Transfer:
    return Transfer(
        id=session,
        mode=request.mode,
        source=request.source,
        customer=request.customer,
        target=target,
        party=request.party,
        started_ms=now,
        source_agent=request.source_agent or agent_of(call, request.source),
        target_name=request.target_name,
    )


def _store(call: Call, transfer: Transfer, now: int) -> tuple[Call, EmitEvent]:
    call = replace(call, transfers=(*call.transfers, transfer)[-MAX_KEPT_TRANSFERS:])
    return emit_transfer(call, transfer, now)


def on_event(call: Call, transfer: Transfer, event: Event, now: int) -> Step:
    """Track the target, and the legs of the three parties."""
    match event:
        case LegRinging(leg) if leg == transfer.target and transfer.state == "starting":
            return _on_ringing(call, transfer, now)
        case LegAnswered(leg) if leg == transfer.target and transfer.state != "answered":
            return _on_answered(call, transfer, now)
        case LegEnded(leg, cause) if leg == transfer.target:
            return fail(call, transfer, cause, now)
        case BridgeFailed(legs=legs) if transfer.target in legs:
            call, commands = fail(call, transfer, causes.TEMPORARY_FAILURE, now)
            return call, (*commands, Hangup(transfer.target, causes.NORMAL))
        case LegEnded(leg) if leg == transfer.source and _has_source(call, transfer):
            return _complete(call, replace(transfer, reason="source_hangup_intentional"), now)
        case _:
            call, music, reports = next_loop(call, transfer.hold_music, event, now)
            if music is transfer.hold_music:
                return call, reports
            return with_transfer(call, replace(transfer, hold_music=music)), ()


def complete(call: Call, request: TransferCompletionRequested, now: int) -> Step:
    """Drop the source; if the target still rings, the transfer becomes blind."""
    transfer = _active_transfer(call, request.session)
    if transfer is None or not _has_source(call, transfer):
        return call, ()  # it has ended, or goes on without the source
    call, commands = _complete(
        call, replace(transfer, reason=request.reason, ended_by=request.by), now
    )
    return call, (*commands, Hangup(transfer.source, causes.NORMAL))


def cancel(call: Call, request: TransferCancelRequested, now: int) -> Step:
    """Hang up the target; the source, if still there, gets the customer back."""
    transfer = _active_transfer(call, request.session)
    if transfer is None:
        return call, ()
    canceled = replace(transfer, state="canceled", reason=request.reason, ended_by=request.by)
    call, commands = end_transfer(call, canceled, now)
    call, more = _end_if_source_left(call, canceled, ("canceled", causes.NORMAL), now)
    return call, (*commands, *more, Hangup(transfer.target, causes.NORMAL))


def _active_transfer(call: Call, session: str) -> Transfer | None:
    """Return the active transfer if it has this id."""
    return call.transfer if call.transfer and call.transfer.id == session else None


def fail(call: Call, transfer: Transfer, cause: int, now: int) -> Step:
    """Give up the target; the source, if still there, gets the customer back."""
    ended = replace(transfer, state="failed", reason=target_reason(transfer, cause))
    call, commands = end_transfer(call, ended, now)
    call, more = _end_if_source_left(call, ended, (causes.unanswered_status(cause), cause), now)
    return call, (*commands, *more)


def target_reason(transfer: Transfer, cause: int) -> TargetReason:
    """Return why a target was not reached, or that it hung up."""
    if transfer.state == "answered" and cause != causes.TEMPORARY_FAILURE:
        return "target_hangup"
    match causes.unreached_reason(cause):
        case "busy":
            return "target_busy"
        case "no_answer":
            return "target_no_answer"
        case "rejected":
            return "target_reject"
        case "unavailable":
            return "target_unavailable"


def _enter_state(call: Call, transfer: Transfer, now: int) -> Step:
    call, event = emit_transfer(with_transfer(call, transfer), transfer, now)
    return call, (event,)


def _complete(call: Call, transfer: Transfer, now: int) -> Step:
    """Go on without the source: completed if the target has answered, else as a blind transfer."""
    if transfer.state == "answered":
        call, commands = end_transfer(call, replace(transfer, state="completed"), now)
    else:
        call, commands = _enter_state(call, replace(transfer, mode="blind"), now)
    call, released = _drop_source(call, transfer, now)
    return call, (*commands, *released)


def _on_ringing(call: Call, transfer: Transfer, now: int) -> Step:
    """Release the source of a blind transfer, unless its phone waits for the outcome."""
    ringing = replace(transfer, state="ringback")
    call, commands = _enter_state(call, ringing, now)
    if transfer.mode == "attended" or transfer.is_referred:
        return call, commands
    call, more = _hang_up_source(call, ringing, now)
    return call, (*commands, *more)


def _on_answered(call: Call, transfer: Transfer, now: int) -> Step:
    if transfer.mode == "attended":
        return _enter_state(call, replace(transfer, state="answered"), now)
    ended = replace(transfer, state="blind_transferred")
    call, commands = end_transfer(call, ended, now)
    call, more = _hang_up_source(call, ended, now)
    return call, (*commands, *more)


def _has_source(call: Call, transfer: Transfer) -> bool:
    """Return whether the source has not left the conversation."""
    legs = call.state.legs if isinstance(call.state, Bridged) else ()
    return transfer.source in {call.main, *legs}


def _hang_up_source(call: Call, transfer: Transfer, now: int) -> Step:
    """Continue without the source of a blind transfer, if it is still there."""
    if not _has_source(call, transfer):
        return call, ()
    call, commands = _drop_source(call, transfer, now)
    return call, (*commands, Hangup(transfer.source, causes.NORMAL))


def _drop_source(call: Call, transfer: Transfer, now: int) -> Step:
    """Keep customer and target in the conversation; the tree continues on the customer's leg."""
    call, commands = release_leg(call, transfer.customer, now)
    call, more = release_leg(call, transfer.target, now)
    if isinstance(call.state, Bridged):
        # The time limit was set for the conversation with the source.
        after = replace(call.state, legs=(transfer.target,), deadline_ms=call.must_end_ms)
        call = replace(call, state=after)
    return replace(call, main=transfer.customer), (*commands, *more)


def _end_if_source_left(
    call: Call, ended: Transfer, outcome: tuple[causes.Status, int], now: int
) -> Step:
    """End the conversation if the source has left; else source and customer continue."""
    state = call.state
    if not isinstance(state, Bridged) or ended.source in {call.main, *state.legs}:
        return call, ()
    return conversation.end(call, state, *outcome, now)
