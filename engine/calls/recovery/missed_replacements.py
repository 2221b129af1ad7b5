"""Recognizes a channel that Asterisk has put in the place of a leg while no engine saw it."""

from engine.calls.media.plan import UNBRIDGED, desired_media
from engine.calls.model.call import Call
from engine.calls.model.leg import Leg
from engine.calls.recovery.pbx_snapshot import PbxSnapshot

MAX_DELAY_MS = 1_000  # from the creation of an inbound channel until its call knows it


def missed_replacements(call: Call, snapshot: PbxSnapshot) -> dict[str, str]:
    """Return the legs of a call that were replaced, each with the channel in its place.

    If that was not reported, exactly one leg must be gone, and exactly one stranger must fit: one
    in the bridge of the leg, into which only Asterisk can have put it; outside a bridge, one with
    the dialled number and the age of the caller whose place it has taken.
    """
    reported = {leg.id for leg in call.legs} & snapshot.replaced.keys()
    if reported:
        return {leg: snapshot.replaced[leg] for leg in reported}
    lost = [leg for leg in call.legs if leg.id not in snapshot.channels]
    if len(lost) != 1 or lost[0].state == "requested":
        return {}
    bridge = desired_media(call).get(lost[0].id, UNBRIDGED).bridge
    if bridge:
        found = [e for e in snapshot.bridges.get(bridge, ()) if e in snapshot.strangers]
    else:
        found = _unbridged(call, lost[0], snapshot)
    return {lost[0].id: found[0]} if len(found) == 1 else {}


def _unbridged(call: Call, lost: Leg, snapshot: PbxSnapshot) -> list[str]:
    if lost.id != call.main or call.direction != "inbound":
        return []
    bridged = {leg for legs in snapshot.bridges.values() for leg in legs}
    return [
        channel
        for channel, stranger in snapshot.strangers.items()
        if channel not in bridged
        and stranger.dialled == call.to
        and abs(stranger.created_ms - lost.requested_ms) < MAX_DELAY_MS
    ]
