"""Ends transfers and conferences, and emits their events."""

from msgspec.structs import replace

from engine.calls.hold_and_mute import set_mute
from engine.calls.model import causes
from engine.calls.model.call import Call, Step, with_conference, with_transfer
from engine.calls.model.commands import AnswerRefer, Command, Hangup
from engine.calls.model.leg import combine_mutes
from engine.calls.model.sessions import (
    Conference,
    ConferenceReason,
    Member,
    SessionEnd,
    Transfer,
)
from engine.calls.reporting.call_events import emit_conference, emit_member, emit_transfer


def end_sessions(call: Call, reason: SessionEnd, now: int) -> Step:
    """End the active sessions of a call that leaves its conversation."""
    commands: tuple[Command, ...] = ()
    if call.transfer is not None:
        target, has_customer = call.transfer.target, call.leg(call.transfer.customer) is not None
        why = reason if has_customer else "customer_hangup"
        abandoned = replace(call.transfer, state="abandoned", reason=why)
        call, events = end_transfer(call, abandoned, now)
        commands = (*events, Hangup(target, causes.NORMAL))
    if call.conference is not None:
        call, more = end_conference(call, call.conference, reason, now)
        commands += more
    hangups = tuple(Hangup(leg, causes.NORMAL) for leg in call.invited)
    return replace(call, invited=()), (*commands, *hangups)


def end_transfer(call: Call, ended: Transfer, now: int) -> Step:
    """Store and emit a transfer's final state."""
    ended = replace(ended, ended_ms=now)
    call, event = emit_transfer(with_transfer(call, ended), ended, now)
    return call, (event, *_answer_refer(call, ended))


def _answer_refer(call: Call, ended: Transfer) -> tuple[AnswerRefer, ...]:
    """Notify the phone that requested a transfer of its outcome, if it is still there."""
    if not ended.is_referred or call.leg(ended.source) is None:
        return ()
    if ended.state in {"completed", "blind_transferred"}:
        return (AnswerRefer(ended.source, accepted=True),)
    is_declined = ended.state != "failed" or ended.reason == "target_reject"
    return (AnswerRefer(ended.source, False, "" if is_declined else "unavailable"),)


def end_conference(call: Call, conference: Conference, reason: ConferenceReason, now: int) -> Step:
    """Complete a conference: end its members, hang up snoops, mute coaches."""
    hangups = tuple(Hangup(m.snoop, causes.NORMAL) for m in conference.members if m.snoop)
    members = tuple(ended_member(each, now) for each in conference.members)
    commands: tuple[Command, ...] = hangups
    for before, member in zip(conference.members, members, strict=True):
        if before.is_live:
            call, event = emit_member(call, conference, member, now)
            commands = (*commands, event)
        if before.is_live and before.coaches:  # the others must not hear a coach by accident
            muted = combine_mutes(call.muted(before.leg), "in")
            call, events = set_mute(call, before.leg, muted, now)
            commands = (*commands, *events)
    ended = replace(conference, state="completed", reason=reason, members=members, ended_ms=now)
    call, event = emit_conference(with_conference(call, ended), ended, now)
    return call, (*commands, event)


def ended_member(member: Member, now: int) -> Member:
    """Return a member after its end; by default, the conference has ended."""
    if not member.is_live:
        return member
    return replace(
        member,
        state="complete" if member.state == "connected" else "failed",
        reason=member.reason or "conference_ended",
        left_ms=now,
        coaches="",
        snoop="",
        is_snooping=False,
    )
