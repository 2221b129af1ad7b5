"""Derives the desired media of each leg: its bridge, its sound, its mute.

Verbs and sessions only change the call; none of them sends bridge, mute or music commands. `step`
compares the media before and after an event (`media.diff`) and commands the differences.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.call_states import (
    Advance,
    AwaitingInstructions,
    Bridged,
    ClosingState,
    Dialing,
    Streaming,
    UnbridgedState,
)
from engine.calls.model.leg import Leg, Muted, combine_mutes
from engine.calls.model.sessions import Conference, HoldMusic, Member, Transfer

OpenState = Bridged | Dialing | Streaming | UnbridgedState | Advance
Sound = Literal["", "music", "ringing"] | HoldMusic  # none, default music, ringing, custom music


class LegMedia(Struct, frozen=True):
    """A leg's desired bridge (or none), the sound it hears, and its mute."""

    bridge: str = ""
    sound: Sound = ""
    muted: Muted = ""


UNBRIDGED = LegMedia()
MediaPlan = dict[str, LegMedia]


def desired_media(call: Call) -> MediaPlan:
    """Return the desired media of each leg that the call uses and that can have any.

    Those are its answered legs and snoops, and a caller who is not answered yet, who hears ringing;
    with early media also the called legs that ring.
    """
    if isinstance(call.state, ClosingState):
        return {}
    found = _media_of(call, call.state)
    for leg in call.legs:
        if leg.id in found and leg.state != "up" and not _may_ring_bridged(call, leg):
            del found[leg.id]
        elif leg.id in found and (leg.is_held or leg.muted):
            found[leg.id] = _with_hold_and_mute(leg, found[leg.id])
    if isinstance(call.state, Dialing):  # a leg leaves the bridge of its early media
        found.update((each.leg, UNBRIDGED) for each in call.state.screenings)
    return found | _unanswered_caller(call) | _fork_media(call)


def other_legs(plan: MediaPlan, leg: str) -> list[str]:
    """Return the legs and snoops that share a leg's bridge."""
    bridge = plan[leg].bridge if leg in plan else ""
    return [each for each, media in plan.items() if bridge == media.bridge != "" and each != leg]


def _unanswered_caller(call: Call) -> MediaPlan:
    """Return ringing for a caller who is not answered, nor in the bridge of early media."""
    leg = call.leg(call.main)
    if leg is None or leg.state == "up" or call.direction == "outbound":
        return {}
    if _may_ring_bridged(call, leg):
        return {}
    return {leg.id: LegMedia(sound="ringing") if call.awaits_answer else UNBRIDGED}


def have_same_media(before: tuple[Leg, ...], after: tuple[Leg, ...]) -> bool:
    """Return whether legs are the same, but for what `desired_media` does not read."""
    if before is after:
        return True
    return len(before) == len(after) and all(map(_has_same_media, before, after))


def _has_same_media(old: Leg, new: Leg) -> bool:
    return old is new or (
        old.id == new.id
        and old.state == new.state
        and old.muted == new.muted
        and old.held == new.held
        and old.held_by_phone == new.held_by_phone
    )


def _dialing_media(call: Call, state: Dialing) -> MediaPlan:
    if not state.bridge:
        sound: Sound = "music" if state.verb.has_music else "ringing"
        return {call.main: LegMedia(sound=sound)}
    called = call.leg(state.legs[0])
    if called is None or called.state == "requested":
        return {call.main: UNBRIDGED}
    return {call.main: LegMedia(state.bridge), called.id: LegMedia(state.bridge)}


def _media_of(call: Call, state: OpenState) -> MediaPlan:
    match state:
        case Bridged():
            return _bridged_media(call, state)
        case Dialing():
            return _dialing_media(call, state)
        case Streaming():
            return _streaming_media(call, state)
        case AwaitingInstructions(has_music=True):
            return {call.main: LegMedia(sound="music")}
        case UnbridgedState() | Advance():
            return {call.main: UNBRIDGED}


def _streaming_media(call: Call, state: Streaming) -> MediaPlan:
    """Return the bridge of caller and bot; music until a lost stream is replaced."""
    stream = call.stream(state.stream)
    is_retried = state.resume is not None or state.failures > 0
    # The channel of one that an earlier engine knew to be connected may have gone since.
    is_ready = stream is not None and stream.channel == "up" and stream.connected_ms > 0
    if stream is None or stream.is_lost or (is_retried and not is_ready):
        return {call.main: LegMedia(sound="music")}
    if stream.channel == "up":
        return {call.main: LegMedia(state.bridge), stream.id: LegMedia(state.bridge)}
    return {call.main: UNBRIDGED}


def _fork_media(call: Call) -> MediaPlan:
    """Return the bridge of each fork: its stream and its snoop."""
    return {
        channel: LegMedia(coach_bridge(each.snoop))
        for each in call.streams
        if each.is_forking
        for channel in (each.snoop, each.id)
    }


def _may_ring_bridged(call: Call, leg: Leg) -> bool:
    """Return whether a leg may be bridged before its answer: for early media, or to be answered."""
    if isinstance(call.state, Dialing):
        return call.state.bridge != ""
    return isinstance(call.state, Bridged) and leg.id == call.main


def _with_hold_and_mute(leg: Leg, media: LegMedia) -> LegMedia:
    """Apply a leg's own hold and mute to its media.

    A phone that holds is in no bridge and keeps the sound that it will hear when it resumes.
    """
    muted = combine_mutes(media.muted, leg.muted)
    if leg.is_held_by_phone and not leg.held:
        return LegMedia(sound=media.sound, muted=muted)
    if not leg.held:
        return LegMedia(media.bridge, media.sound, muted)
    sound: Sound = media.sound if isinstance(media.sound, HoldMusic) else "music"
    return LegMedia(sound=sound, muted=muted)


def required_bridges(call: Call) -> frozenset[str]:
    """Return the ids of the bridges that a call needs."""
    if isinstance(call.state, ClosingState):
        return frozenset()
    forks = {coach_bridge(each.snoop) for each in call.streams if each.is_forking}
    return _bridges_of_state(call) | forks


def _bridges_of_state(call: Call) -> frozenset[str]:
    if isinstance(call.state, Dialing):
        return frozenset({call.state.bridge} - {""})
    if isinstance(call.state, Streaming):
        is_bridged = call.state.stream in _streaming_media(call, call.state)
        return frozenset({call.state.bridge} if is_bridged else ())
    if not isinstance(call.state, Bridged):
        return frozenset()
    members = call.conference.members if call.conference else ()
    return frozenset(
        {call.state.bridge, *(coach_bridge(m.snoop) for m in members if m.is_snooping)}
    )


def coach_bridge(snoop: str) -> str:
    """Return the id of the bridge of a snoop, and of the coach or stream that it is for."""
    return f"{snoop}b"


def _bridged_media(call: Call, state: Bridged) -> MediaPlan:
    if call.transfer is not None and not _is_arriving(call, call.transfer.target):
        return _transfer_media(call, state, call.transfer)
    up = [leg for leg in (call.main, *state.legs) if call.is_up(leg) or _is_main(call, leg)]
    conference = call.conference
    if len(up) == 1:
        return {up[0]: LegMedia(sound=_wait_sound(conference.hold_music if conference else None))}
    found = {leg: LegMedia(state.bridge) for leg in up}
    if conference:
        found |= _coach_media(call, conference, state.bridge) | _waiting_media(conference, up)
    together = [leg for leg in up if found[leg].bridge == state.bridge]
    return found | _put_on_hold(call, together, conference.hold_music if conference else None)


def _is_arriving(call: Call, leg_id: str) -> bool:
    """Return whether another call has sent a leg that is not answered yet: the two talk on."""
    leg = call.leg(leg_id)
    return leg is not None and leg.replaced_role != "" and leg.state != "up"


def _put_on_hold(call: Call, legs: Sequence[str], music: HoldMusic | None = None) -> MediaPlan:
    """Return music for the only one of several legs that its phone does not hold."""
    left = [leg for leg in legs if not _is_held_by_phone(call, leg)]
    return {left[0]: LegMedia(sound=_wait_sound(music))} if len(left) == 1 < len(legs) else {}


def _is_held_by_phone(call: Call, leg_id: str) -> bool:
    leg = call.leg(leg_id)
    return leg is not None and leg.is_held_by_phone


def _waiting_media(conference: Conference, up: list[str]) -> MediaPlan:
    """Return the media while the customer hears music until the awaited member has joined.

    One other member alone hears ringing; several continue to talk.
    """
    awaited = conference.member(conference.awaited)
    if awaited is None or awaited.state == "connected" or conference.customer not in up:
        return {}
    waiting = {conference.customer: LegMedia(sound=_wait_sound(conference.hold_music))}
    others = [leg for leg in up if leg != conference.customer]
    return waiting | ({others[0]: LegMedia(sound="ringing")} if len(others) == 1 else {})


def _is_main(call: Call, leg_id: str) -> bool:
    """Return whether a leg is the main leg and live: it may just be being answered."""
    return leg_id == call.main and call.leg(leg_id) is not None


def _transfer_media(call: Call, state: Bridged, transfer: Transfer) -> MediaPlan:
    waiting = {transfer.customer: LegMedia(sound=_wait_sound(transfer.hold_music))}
    if transfer.state == "answered":
        both = (transfer.source, transfer.target)
        consulting = {leg: LegMedia(state.bridge) for leg in both}
        return waiting | consulting | _put_on_hold(call, both)
    if transfer.source in {call.main, *state.legs}:
        return waiting | {transfer.source: LegMedia(sound="ringing")}
    return waiting


def _coach_media(call: Call, conference: Conference, bridge: str) -> MediaPlan:
    """Return the media of coaches, who only their snoops hear, and of those snoops.

    A snoop mixes audio only if another leg is bridged (docs/asterisk.md): if the coached leg is
    alone, its coach stays in the main bridge.
    """
    found: MediaPlan = {}
    for member in conference.members:
        if member.is_snooping:
            found[member.leg] = found[member.snoop] = LegMedia(coach_bridge(member.snoop))
        elif is_apart(call, member):
            found[member.leg] = LegMedia(bridge, muted="in")  # until the snoop exists
    return found


def is_apart(call: Call, member: Member) -> bool:
    """Return whether a member coaches a leg that other legs talk to, apart from its coaches."""
    if not member.coaches or call.conference is None:
        return False
    elsewhere = {member.coaches, *(each.leg for each in call.conference.members if each.coaches)}
    return any(leg.id not in elsewhere and _is_in_conversation(call, leg) for leg in call.legs)


def _is_in_conversation(call: Call, leg: Leg) -> bool:
    legs = call.state.legs if isinstance(call.state, Bridged) else ()
    return leg.state == "up" and not leg.is_held and leg.id in {call.main, *legs}


def _wait_sound(music: HoldMusic | None) -> Sound:
    return music if music is not None and music.clips else "music"
