"""Taps: the recording of a leg, and the snoops of its coaches and forks: they hear what it hears.

A tap that follows its leg to another party may not hear that party for minutes: Debian's Asterisk
drops its packets as late (docs/asterisk.md). It forgets the packets of the previous party after a
moment in which the leg has no tap. So all taps of a leg end when it hears another party, and
restart after a pause.
"""

from msgspec.structs import replace

from engine.calls.media.call_recording import end_recording, running_recording, sync_recording
from engine.calls.media.plan import MediaPlan, desired_media, other_legs
from engine.calls.model.call import Call, Step, update_leg
from engine.calls.model.commands import Command
from engine.calls.model.events import Event, LegAnswered, LegResumedByPhone
from engine.calls.model.leg import Leg
from engine.calls.sessions.coaching import (
    end_needless_snoops,
    end_snoops,
    snooped_legs,
    start_snoops,
    waiting_coaches,
)
from engine.calls.verbs import forks

SEVERAL = "*"  # in place of the leg's id, for a mix of several parties, and for a bot
PAUSE_MS = 100  # Asterisk forgets them at the next packet, one of which comes each 20 ms


def sync_taps(call: Call, event: Event, now: int) -> Step:
    """Start and end recordings and snoops as the call now requires."""
    if call.taps_paused_until_ms and now >= call.taps_paused_until_ms:
        call = replace(call, taps_paused_until_ms=0)
    has_forks = bool(forks.forks(call))
    if not (call.recording_enabled or call.recordings or call.conferences or has_forks):
        return call, ()
    call, commands = end_needless_snoops(call, now)
    call, more = forks.end_misplaced_snoops(call)
    commands += more
    plan = desired_media(call)
    call, more = _end_deaf_taps(call, plan, event, now)
    commands += more
    call, more = sync_recording(call, now)
    commands += more
    if not call.taps_paused_until_ms:
        call, more = start_snoops(call, now)
        commands += more
        call, more = forks.start_snoops(call)
        commands += more
    return _note_parties(call, plan), commands


def _end_deaf_taps(call: Call, plan: MediaPlan, event: Event, now: int) -> Step:
    """End the taps of the legs that hear another party than before; they restart after a pause."""
    tapped = _tapped_legs(call)
    commands: tuple[Command, ...] = ()
    for leg in call.legs:
        party = _heard_party(call, plan, leg.id) if leg.id in tapped else ""
        if leg.tapped_party and (leg.id not in tapped or _is_new(leg, party, event)):
            call = update_leg(call, leg.id, tapped_party="")
            call = replace(call, taps_paused_until_ms=now + PAUSE_MS)
            call, ended = end_recording(call, leg.id)
            call, hung_up = end_snoops(call, leg.id, now)
            call, silenced = forks.end_snoops(call, leg.id)
            commands = (*commands, *ended, *hung_up, *silenced)
    return call, commands


def _note_parties(call: Call, plan: MediaPlan) -> Call:
    """Store on each tapped leg which party it hears; starts of taps move no leg."""
    for leg_id in _tapped_legs(call):
        leg, party = call.leg(leg_id), _heard_party(call, plan, leg_id)
        if leg is not None and party and leg.tapped_party != party:
            call = update_leg(call, leg_id, tapped_party=party)
    return call


def _tapped_legs(call: Call) -> set[str]:
    recording = running_recording(call)
    return (
        snooped_legs(call)
        | forks.snooped_legs(call)
        | ({recording.leg} if recording is not None else set())
    )


def _heard_party(call: Call, plan: MediaPlan, leg_id: str) -> str:
    """Return the leg that a leg shares its bridge with; empty if it is alone.

    A prompt and music have no packets that could be late. A coach is in the bridge only until its
    snoop exists.
    """
    coaches = waiting_coaches(call)
    others = [each for each in other_legs(plan, leg_id) if each not in coaches]
    if len(others) > 1 or (others and call.stream(others[0]) is not None):
        return SEVERAL
    return others[0] if others and call.leg(others[0]) is not None else ""


def _is_new(leg: Leg, party: str, event: Event) -> bool:
    """Return whether a leg hears another party, or one whose packets may be dropped.

    Phones restart their numbers after a hold; early media may come from elsewhere than what follows
    the answer; a mix has number 0 in all packets, so what follows it may be late, but not the mix;
    a bot is taken for a mix.
    """
    if party in {"", SEVERAL}:
        return False
    if isinstance(event, LegResumedByPhone | LegAnswered) and event.leg in {leg.id, party}:
        return True
    return party != leg.tapped_party
