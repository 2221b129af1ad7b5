"""The end of sessions that outlive their conversation: each is told its end, none is left live."""

from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.call import Call, Step, with_leg
from engine.calls.model.commands import Command, Hangup
from engine.calls.model.leg import Muted, combine_mutes
from engine.calls.model.sessions import Conference, Member, Transfer
from engine.calls.reporting.call_events import emit_conference, emit_leg, emit_member, emit_transfer
from engine.calls.reporting.history import update_hold_time
from wire.events import Kind


def with_transfer(call: Call, transfer: Transfer) -> Call:
    """Put the latest transfer in its new state."""
    return replace(call, transfers=(*call.transfers[:-1], transfer))


def with_conference(call: Call, conference: Conference) -> Call:
    """Put the latest conference in its new state."""
    return replace(call, conferences=(*call.conferences[:-1], conference))


def end_sessions(call: Call, reason: str, now: int) -> Step:
    """End the live sessions of a call that goes on to something else, or ends."""
    commands: tuple[Command, ...] = ()
    if call.transfer is not None:
        target, has_customer = call.transfer.target, call.leg(call.transfer.customer) is not None
        why = reason if has_customer else "customer_hangup"
        call, told = end_transfer(call, replace(call.transfer, state="abandoned", reason=why), now)
        commands = (*told, Hangup(target, causes.NORMAL))
    if call.conference is not None:
        call, more = end_conference(call, call.conference, reason, now)
        commands += more
    hangups = tuple(Hangup(leg, causes.NORMAL) for leg in call.invited)
    return replace(call, invited=()), (*commands, *hangups)


def end_transfer(call: Call, ended: Transfer, now: int) -> Step:
    """Note a transfer's final state."""
    ended = replace(ended, ended_ms=now)
    call, told = emit_transfer(with_transfer(call, ended), ended, now)
    return call, (told,)


def end_conference(call: Call, conference: Conference, reason: str, now: int) -> Step:
    """Complete a conference; every member is told its end, those who are coached are let go."""
    hangups = tuple(Hangup(m.snoop, causes.NORMAL) for m in conference.members if m.snoop)
    members = tuple(_ended_member(each, now) for each in conference.members)
    commands: tuple[Command, ...] = hangups
    for was, member in zip(conference.members, members, strict=True):
        if was.is_live:
            call, told = emit_member(call, conference, member, now)
            commands = (*commands, told)
        if was.is_live and was.coaches:  # nobody is to hear a coach by accident
            call, silenced = set_mute(call, was.leg, combine_mutes(call.muted(was.leg), "in"), now)
            commands = (*commands, *silenced)
    ended = replace(conference, state="completed", reason=reason, members=members, ended_ms=now)
    call, told = emit_conference(with_conference(call, ended), ended, now)
    return call, (*commands, told)


def release_leg(call: Call, leg_id: str, now: int) -> Step:
    """Take a leg off hold: who held it may be gone."""
    leg = call.leg(leg_id)
    if leg is None or not leg.held:
        return call, ()
    free = leg.without_hold(now)
    call, told = emit_leg(update_hold_time(with_leg(call, free), now), "leg-unheld", free, now)
    return call, (told,)


def set_mute(call: Call, leg_id: str, muted: Muted, now: int) -> Step:
    """Silence a leg in a direction, or let it be heard again."""
    leg = call.leg(leg_id)
    if leg is None or leg.muted == muted:
        return call, ()
    kind: Kind = "leg-muted" if muted else "leg-unmuted"
    leg = replace(leg, muted=muted)
    call, told = emit_leg(with_leg(call, leg), kind, leg, now, muted=muted or None)
    return call, (told,)


def _ended_member(member: Member, now: int) -> Member:
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
