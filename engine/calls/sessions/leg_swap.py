"""Puts a leg in the place of another: in the state, in the sessions, and in what comes next.

The media plan then names the new leg, so the step commands its bridge, sound and mute. A prompt or
a voicemail needs no command: Asterisk continues it to the new channel (docs/asterisk.md).
"""

from msgspec.structs import replace

from engine.calls.media.plan import UNBRIDGED, desired_media
from engine.calls.model.call import Call, Step, with_conference, with_leg, with_transfer
from engine.calls.model.commands import Command, StopPlayback
from engine.calls.model.field_map import Value, map_fields
from engine.calls.model.leg import Leg
from engine.calls.model.sessions import HoldMusic, Member
from engine.calls.reporting.call_events import emit_leg
from engine.calls.reporting.ended_legs import update_hold_time
from engine.calls.sessions.conference_member_state import update_member
from engine.calls.sessions.custom_hold_music import restart_loop
from engine.calls.transfer_and_conference_end import ended_member


def swap(call: Call, old: Leg, arrived: Leg, now: int) -> Step:
    """Give the leg that has arrived the place of the old one, with its holds and mutes.

    One that picks up a ringing leg is the party that was called.
    """
    is_up = old.state == "up"
    is_bridged = desired_media(call).get(old.id, UNBRIDGED).bridge != ""
    new = replace(
        arrived,
        party="" if is_up or old.id == call.main else old.party,
        state=old.state,
        answered_ms=now if is_up else 0,
        digits_from_ms=now if is_up else 0,
        muted=old.muted,
        held=old.held,
        held_by_phone=old.is_held_by_phone,
        held_since_ms=now if old.is_held else 0,
        tapped_party="" if is_bridged else old.tapped_party,
    )
    call, initiated = emit_leg(call, "leg-initiated", new, now)
    commands: tuple[Command, ...] = (initiated,)
    if is_up:
        call, answered = emit_leg(call, "leg-answered", new, now)
        commands = (*commands, answered)
    stops = _custom_music(call, old.id)
    if not is_bridged:
        call = _continue_recording(call, old.id, new.id)
    call = restart_loop(with_leg(_renamed(call, old.id, new.id), new), new.id)
    call, members = _replace_member(call, old.id, new.id, now)
    return update_hold_time(call, now), (*commands, *stops, *members)


def _renamed(call: Call, old: str, new: str) -> Call:
    """Return the call with another leg in each place of a leg."""

    def renamed(value: Value) -> Value:
        return map_fields(value, lambda _name, field: new if field == old else field)

    if call.transfer is not None:
        call = with_transfer(call, renamed(call.transfer))
    if call.conference is not None:
        call = with_conference(call, renamed(call.conference))
    return replace(
        call,
        main=renamed(call.main),
        state=renamed(call.state),
        invited=renamed(call.invited),
    )


def _continue_recording(call: Call, old: str, new: str) -> Call:
    """Let the recording of a leg go on for the new one; Asterisk ends it only in a bridge."""
    recordings = tuple(
        replace(each, leg=new) if each.leg == old and each.state == "running" else each
        for each in call.recordings
    )
    return replace(call, recordings=recordings)


def _custom_music(call: Call, leg: str) -> tuple[StopPlayback, ...]:
    """Return the command that stops the custom music of a leg: its loop starts again."""
    music = desired_media(call).get(leg, UNBRIDGED).sound
    return (StopPlayback(music.playback),) if isinstance(music, HoldMusic) else ()


def _replace_member(call: Call, old: str, new: str, now: int) -> Step:
    """List the old leg as a member that has left, and the new one as an unknown party."""
    member = call.conference.member(new) if call.conference else None
    if member is None:
        return call, ()
    left = ended_member(replace(member, leg=old, reason="hangup"), now)
    call, events = update_member(call, left, now)
    joined = Member(
        new, "", member.state, coaches=member.coaches, snoop=member.snoop,
        is_snooping=member.is_snooping, joined_ms=now if member.joined_ms else 0,
    )  # fmt: skip
    call, more = update_member(call, joined, now)
    return call, (*events, *more)
