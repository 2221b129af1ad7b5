"""Transfer: the customer is handed from the source to a target, who is called meanwhile.

starting -> ringback -> answered -> completed; blind: starting -> ringback -> blind_transferred.
From every live state: failed (the target), canceled (the source), abandoned (the customer).
Who hears whom in each follows in `seating`. (Design section 7, "Transfer".)
"""

from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.call import Call, Step, allocate_id
from engine.calls.model.commands import Command, Hangup
from engine.calls.model.events import BridgeFailed, Event, LegAnswered, LegEnded, LegRinging
from engine.calls.model.requests import (
    TransferCancelRequested,
    TransferCompletionRequested,
    TransferRequested,
)
from engine.calls.model.sessions import Transfer
from engine.calls.model.state import Bridged
from engine.calls.reporting.call_events import emit_transfer
from engine.calls.session_end import end_conference, end_transfer, release_leg, with_transfer
from engine.calls.sessions import conversation
from engine.calls.sessions.hold_music import fetch_music, next_loop
from engine.calls.sessions.leg_control import clear_invite, invite

MAX_KEPT = 20


def start(call: Call, asked: TransferRequested, now: int) -> Step:
    """Call the target; in a blind transfer the source is let go at once.

    A conference of which only source and customer are left ends with it.
    """
    ended: tuple[Command, ...] = ()
    if call.conference is not None:
        call, ended = end_conference(call, call.conference, "transfer", now)
    call, session = allocate_id(call, "t")
    call, target, commands = invite(call, asked.party, asked.ring_s, now)
    call, tune, fetches = fetch_music(clear_invite(call, target), asked.music)
    transfer = Transfer(
        id=session,
        mode=asked.mode,
        source=asked.source,
        customer=asked.customer,
        target=target,
        party=asked.party,
        started_ms=now,
        source_agent=asked.source_agent,
        target_name=asked.target_name,
        hold_music=tune,
    )
    call = replace(call, transfers=(*call.transfers[-MAX_KEPT:], transfer))
    call, told = emit_transfer(call, transfer, now)
    if asked.mode == "attended":
        return call, (*ended, told, *commands, *fetches)
    call, freed_too = _let_go(call, transfer, now)
    hangup = Hangup(asked.source, causes.NORMAL)
    return call, (*ended, told, *freed_too, *commands, *fetches, hangup)


def on_event(call: Call, transfer: Transfer, event: Event, now: int) -> Step:
    """Follow the target, and the three parties' comings and goings."""
    match event:
        case LegRinging(leg) if leg == transfer.target and transfer.state == "starting":
            return _told(call, replace(transfer, state="ringback"), now)
        case LegAnswered(leg) if leg == transfer.target and transfer.state != "answered":
            return _answered(call, transfer, now)
        case LegEnded(leg, cause) if leg == transfer.target:
            return failed(call, transfer, cause, now)
        case BridgeFailed(legs=legs) if transfer.target in legs:
            call, commands = failed(call, transfer, causes.TEMPORARY_FAILURE, now)
            return call, (*commands, Hangup(transfer.target, causes.NORMAL))
        case LegEnded(leg) if leg == transfer.source and transfer.mode == "attended":
            return _complete(call, replace(transfer, reason="source_hangup_intentional"), now)
        case _:
            call, tune = next_loop(call, transfer.hold_music, event)
            if tune is transfer.hold_music:
                return call, ()
            return with_transfer(call, replace(transfer, hold_music=tune)), ()


def complete(call: Call, asked: TransferCompletionRequested, now: int) -> Step:
    """Leave the source out: of a target that still rings, this makes a blind transfer."""
    transfer = _asked(call, asked.session)
    if transfer is None or transfer.mode == "blind":
        return call, ()  # it has ended, or is on its way without the source
    call, commands = _complete(call, replace(transfer, reason=asked.reason, ended_by=asked.by), now)
    return call, (*commands, Hangup(transfer.source, causes.NORMAL))


def cancel(call: Call, asked: TransferCancelRequested, now: int) -> Step:
    """Let the target go; the source, if it is there, has the customer back."""
    transfer = _asked(call, asked.session)
    if transfer is None:
        return call, ()
    canceled = replace(transfer, state="canceled", reason=asked.reason, ended_by=asked.by)
    call, commands = end_transfer(call, canceled, now)
    call, parted = _without_target(call, canceled, ("canceled", causes.NORMAL), now)
    return call, (*commands, *parted, Hangup(transfer.target, causes.NORMAL))


def _asked(call: Call, session: str) -> Transfer | None:
    """Give the transfer that is meant, if it is the live one."""
    return call.transfer if call.transfer and call.transfer.id == session else None


def failed(call: Call, transfer: Transfer, cause: int, now: int) -> Step:
    """Give the target up; the source, if it is there, has the customer back."""
    given_up = replace(transfer, state="failed", reason=target_reason(transfer, cause))
    call, commands = end_transfer(call, given_up, now)
    call, parted = _without_target(call, given_up, (causes.unanswered_status(cause), cause), now)
    return call, (*commands, *parted)


def target_reason(transfer: Transfer, cause: int) -> str:
    """Say why a target was not reached, or that it has left."""
    if transfer.state == "answered" and cause != causes.TEMPORARY_FAILURE:
        return "target_hangup"
    reasons = {
        causes.BUSY: "target_busy",
        causes.NO_ANSWER: "target_no_answer",
        causes.NO_USER_RESPONSE: "target_no_answer",
        causes.REJECTED: "target_reject",
    }
    return reasons.get(cause, "target_unavailable")


def _told(call: Call, transfer: Transfer, now: int) -> Step:
    call, told = emit_transfer(with_transfer(call, transfer), transfer, now)
    return call, (told,)


def _complete(call: Call, transfer: Transfer, now: int) -> Step:
    """Go on without the source: joined if the target has answered, else as a blind transfer."""
    if transfer.state == "answered":
        call, commands = end_transfer(call, replace(transfer, state="completed"), now)
    else:
        call, commands = _told(call, replace(transfer, mode="blind"), now)
    call, freed_too = _let_go(call, transfer, now)
    return call, (*commands, *freed_too)


def _answered(call: Call, transfer: Transfer, now: int) -> Step:
    if transfer.mode == "attended":
        return _told(call, replace(transfer, state="answered"), now)
    return end_transfer(call, replace(transfer, state="blind_transferred"), now)


def _let_go(call: Call, transfer: Transfer, now: int) -> Step:
    """Leave the customer and the target in the conversation; the tree goes on with the customer."""
    call, commands = release_leg(call, transfer.customer, now)
    call, more = release_leg(call, transfer.target, now)
    if isinstance(call.state, Bridged):
        call = replace(call, state=replace(call.state, legs=(transfer.target,)))
    return replace(call, main=transfer.customer), (*commands, *more)


def _without_target(call: Call, ended: Transfer, outcome: tuple[str, int], now: int) -> Step:
    """Let the source talk to the customer again; if it is gone, the tree goes on."""
    doing = call.state
    if not isinstance(doing, Bridged) or ended.source in {call.main, *doing.legs}:
        return call, ()
    return conversation.end(call, doing, *outcome, now)
