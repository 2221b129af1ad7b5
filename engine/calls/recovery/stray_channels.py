"""Channels that a call gave up before they existed: an outage can hide that they came to be."""

from engine.calls.model.call import Call
from wire.call_id_format import call_of


def is_stray(call: Call, channel: str) -> bool:
    """Return whether a channel with an id of the call is none of its legs, snoops and streams."""
    return call_of(channel) == call.id and channel not in _known_channels(call)


def _known_channels(call: Call) -> set[str]:
    members = call.conference.members if call.conference else ()
    legs = {each.id for each in call.legs}
    streams = {name for each in call.streams for name in (each.id, each.snoop)}
    return legs | streams | {each.snoop for each in members}
