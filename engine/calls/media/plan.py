"""Who is where and hears what, read off a call's value.

Verbs and sessions only change the call. None of them joins, parts, mutes or entertains anybody:
`step` compares the seats before with those after (`moving`) and asks the PBX for what differs.
"""

from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.leg import Leg, Muted, combine_mutes
from engine.calls.model.sessions import Conference, HoldMusic, Member, Transfer
from engine.calls.model.state import (
    ArchivingRecordings,
    AwaitingInstructions,
    Bridged,
    Dialing,
    Ended,
    Ending,
)
from wire.verbs import Dial

Sound = str | HoldMusic  # "music", "ringing", a tune of one's own, or "" for none of ours


class LegMedia(Struct, frozen=True):
    """Where a leg is to be: in a bridge or outside, with what it hears there, and how muted."""

    bridge: str = ""
    sound: Sound = ""
    muted: Muted = ""


UNBRIDGED = LegMedia()
MediaPlan = dict[str, LegMedia]


def desired_media(call: Call) -> MediaPlan:
    """Give the seat of every leg that is up and has a part in the call, and of its snoops."""
    match call.state:
        case Ending() | ArchivingRecordings() | Ended():
            return {}
        case Bridged() as doing:
            found = _conversation(call, doing)
        case Dialing(verb=verb):
            found = {call.main: LegMedia(sound="music" if has_music(verb) else "ringing")}
        case AwaitingInstructions(has_music=True):
            found = {call.main: LegMedia(sound="music")}
        case _:
            found = {call.main: UNBRIDGED}
    for leg in call.legs:
        if leg.id in found and leg.state != "up":
            del found[leg.id]
        elif leg.id in found and (leg.held or leg.muted):
            found[leg.id] = _of_its_own(leg, found[leg.id])
    return found


def _of_its_own(leg: Leg, seat: LegMedia) -> LegMedia:
    """Give the seat of a leg that is on hold or muted."""
    muted = combine_mutes(seat.muted, leg.muted)
    if not leg.held:
        return LegMedia(seat.bridge, seat.sound, muted)
    return LegMedia(sound=seat.sound if isinstance(seat.sound, HoldMusic) else "music", muted=muted)


def required_bridges(call: Call) -> frozenset[str]:
    """Name the bridges that a call needs."""
    if not isinstance(call.state, Bridged):
        return frozenset()
    coached = call.conference.members if call.conference else ()
    return frozenset(
        {call.state.bridge, *(coach_bridge(m.snoop) for m in coached if m.is_snooping)}
    )


def coach_bridge(snoop: str) -> str:
    """Name the bridge in which a coach meets the snoop on whom it coaches."""
    return f"{snoop}b"


def has_music(verb: Dial) -> bool:
    """Tell whether who waits for a dial hears music instead of ringing."""
    return (verb.moh or verb.data.moh).enable


def _conversation(call: Call, doing: Bridged) -> MediaPlan:
    if call.transfer is not None:
        return _handed_over(call, doing, call.transfer)
    up = [leg for leg in (call.main, *doing.legs) if call.is_up(leg)]
    conference = call.conference
    if len(up) == 1:
        return {up[0]: LegMedia(sound=_music(conference.hold_music if conference else None))}
    found = {leg: LegMedia(doing.bridge) for leg in up}
    return found | _coached(call, conference, doing.bridge) if conference else found


def _handed_over(call: Call, doing: Bridged, transfer: Transfer) -> MediaPlan:
    waiting = {transfer.customer: LegMedia(sound=_music(transfer.hold_music))}
    if transfer.state == "answered":
        consulting = {leg: LegMedia(doing.bridge) for leg in (transfer.source, transfer.target)}
        return waiting | consulting
    if transfer.source in {call.main, *doing.legs}:
        return waiting | {transfer.source: LegMedia(sound="ringing")}
    return waiting


def _coached(call: Call, conference: Conference, bridge: str) -> MediaPlan:
    """Give the seats of coaches, whom nobody else is to hear, and of their snoops.

    A snoop is heard only beside something else (docs/asterisk.md): with nobody else in the bridge
    to hear it, a coach sits there itself.
    """
    found: MediaPlan = {}
    for member in conference.members:
        room = LegMedia(coach_bridge(member.snoop))
        if member.is_snooping:
            has_others = _others(call, conference, member)
            found |= {member.leg: room if has_others else LegMedia(bridge), member.snoop: room}
        elif member.coaches:
            found[member.leg] = LegMedia(bridge, muted="in")  # until the snoop is there
    return found


def _others(call: Call, conference: Conference, coach: Member) -> bool:
    """Tell whether somebody else is in the bridge of whom is coached."""
    elsewhere = {coach.leg, coach.coaches, *(m.leg for m in conference.members if m.is_snooping)}
    return any(leg.id not in elsewhere and _is_in_talk(call, leg) for leg in call.legs)


def _is_in_talk(call: Call, leg: Leg) -> bool:
    legs = call.state.legs if isinstance(call.state, Bridged) else ()
    return leg.state == "up" and not leg.held and leg.id in {call.main, *legs}


def _music(tune: HoldMusic | None) -> Sound:
    return tune if tune is not None and tune.clips else "music"
