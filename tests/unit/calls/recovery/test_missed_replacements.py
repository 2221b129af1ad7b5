"""A leg that Asterisk replaced during an outage: the recovery continues with the new channel."""

from typing import Any

import pytest
from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.calls.model.events import LegEnded, LegReplaced
from engine.calls.recovery.missed_replacements import MAX_DELAY_MS
from engine.calls.recovery.pbx_snapshot import PbxSnapshot, Stranger
from engine.calls.recovery.reconcile import reconcile
from tests.harness.calls.builders import MAIN, NOW, answered_call, bridged_call, say
from tests.harness.calls.control import BOB, BRIDGE, MIX_BRIDGE, PEER, bridged_legs, in_conference

ARRIVED, OTHER = "1700000000.77", "1700000000.78"
STRANGER = Stranger("", NOW)
BOTH = {ARRIVED: STRANGER, OTHER: STRANGER}


def replaced_legs(call: Call, snapshot: PbxSnapshot) -> dict[str, str]:
    """Return the legs that a recovery recognizes as replaced; the others that are gone are lost."""
    _, events = reconcile(call, (), snapshot, NOW + 20_000)
    found = {each.replaced: each.leg for each in events if isinstance(each, LegReplaced)}
    lost = {each.leg for each in events if isinstance(each, LegEnded)}
    assert lost == {leg.id for leg in call.legs} - snapshot.channels.keys() - found.keys()
    return found


def in_bridge(*channels: str, bridge: str = BRIDGE, **fields: Any) -> PbxSnapshot:
    """Return a snapshot with these channels in the bridge of the conversation."""
    return PbxSnapshot(dict.fromkeys(channels, "Up"), bridges={bridge: channels}, **fields)


def test_a_stranger_in_the_bridge_of_the_lost_leg() -> None:
    """Both parties talk on."""
    story = bridged_call(BOB)
    snapshot = in_bridge(MAIN, ARRIVED, strangers={ARRIVED: STRANGER})
    assert replaced_legs(story.call, snapshot) == {PEER: ARRIVED}
    for event in reconcile(story.call, (), snapshot, NOW + 20_000)[1]:
        story.take(event)
    assert bridged_legs(story) == {MAIN, ARRIVED}


def test_a_stranger_in_a_conference() -> None:
    call = in_conference().call
    rest = tuple(leg.id for leg in call.legs if leg.id != MAIN)
    snapshot = in_bridge(*rest, ARRIVED, bridge=MIX_BRIDGE, strangers={ARRIVED: STRANGER})
    assert replaced_legs(call, snapshot) == {MAIN: ARRIVED}


NO_REPLACEMENT = {
    "two strangers": in_bridge(MAIN, ARRIVED, OTHER, strangers=BOTH),
    "two legs lost": in_bridge(ARRIVED, strangers={ARRIVED: STRANGER}),
    "elsewhere": PbxSnapshot({MAIN: "Up", ARRIVED: "Up"}, strangers={ARRIVED: STRANGER}),
    "no stranger": in_bridge(MAIN, ARRIVED),
    "none lost": in_bridge(MAIN, PEER, ARRIVED, strangers={ARRIVED: STRANGER}),
}


@pytest.mark.parametrize("name", NO_REPLACEMENT)
def test_what_is_not_clear_is_no_replacement(name: str) -> None:
    assert replaced_legs(bridged_call(BOB).call, NO_REPLACEMENT[name]) == {}


def unbridged(*strangers: Stranger) -> dict[str, str]:
    """Return what is replaced in an inbound call that plays a prompt, its caller gone."""
    call = replace(answered_call(say()).call, direction="inbound")
    channels = (ARRIVED, OTHER)[: len(strangers)]
    known = dict(zip(channels, strangers, strict=True))
    assert call.legs[0].requested_ms == NOW
    return replaced_legs(call, PbxSnapshot(dict.fromkeys(channels, "Up"), strangers=known))


def test_a_stranger_outside_a_bridge() -> None:
    """It has entered the app with the arguments of the caller whose place it has taken."""
    dialled = answered_call(say()).call.to
    fitting = Stranger(dialled, NOW - MAX_DELAY_MS + 1)
    assert unbridged(fitting) == {MAIN: ARRIVED}
    assert unbridged(fitting, Stranger("+4799", NOW)) == {MAIN: ARRIVED}
    assert unbridged(fitting, fitting) == {}
    assert unbridged(Stranger("+4799", NOW)) == {}
    assert unbridged(Stranger(dialled, NOW - MAX_DELAY_MS)) == {}


def test_a_replacement_that_was_reported() -> None:
    """It needs no further evidence; it may be that of another call."""
    call = bridged_call(BOB).call
    assert replaced_legs(call, in_bridge(MAIN, replaced={PEER: ARRIVED})) == {PEER: ARRIVED}
    assert replaced_legs(call, in_bridge(MAIN, replaced={"1.1": ARRIVED})) == {}
