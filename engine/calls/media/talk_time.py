"""Counts talk time: the time in which legs share a bridge, so that their parties can talk."""

from collections import Counter

from msgspec.structs import replace

from engine.calls.media.plan import desired_media
from engine.calls.model.call import Call


def update_talk_time(call: Call, now: int, ended_ms: int) -> Call:
    """Start or stop counting for the legs, and the call, whose conversation began or ended.

    A conversation may have ended unnoticed, at `ended_ms`; it begins when the engine starts it.
    """
    talking = _talking_legs(call)
    if any((leg.id in talking) != bool(leg.talking_since_ms) for leg in call.legs):
        legs = tuple(
            leg
            if (leg.id in talking) == bool(leg.talking_since_ms)
            else leg.with_talk(now)
            if leg.id in talking
            else leg.without_talk(ended_ms)
            for leg in call.legs
        )
        call = replace(call, legs=legs)
    is_talking = bool(talking) and not call.held_since_ms
    if is_talking == bool(call.talking_since_ms):
        return call
    if is_talking:
        return replace(call, talking_since_ms=now)
    lasted_ms = max(0, ended_ms - call.talking_since_ms)
    return replace(call, talking_since_ms=0, talk_ms=call.talk_ms + lasted_ms)


def _talking_legs(call: Call) -> set[str]:
    """Return the answered legs that share a bridge with another one."""
    plan = desired_media(call)
    bridges = {leg: media.bridge for leg, media in plan.items() if media.bridge and call.is_up(leg)}
    sizes = Counter(bridges.values())
    return {leg for leg, bridge in bridges.items() if sizes[bridge] > 1}
