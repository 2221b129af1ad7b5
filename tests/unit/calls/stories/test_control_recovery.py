"""A controlled call is stored, recovered and replayed in each state."""

from collections.abc import Callable

import pytest

from engine.calls.media.plan import desired_media, required_bridges
from engine.calls.model import storage_format
from engine.calls.model.commands import AddToBridge, RemoveFromBridge
from engine.calls.model.events import Recovered
from engine.calls.replay_audit import replay
from tests.harness.calls import builders
from tests.harness.calls.control import (
    BOB,
    BRIDGE,
    DAN,
    PEER,
    cancel,
    coaching,
    complete,
    hold,
    in_conference,
    inviting,
    kick,
    take_all,
    transferring,
    transferring_from_main,
    transferring_with_music,
    waiting_alone,
)

STATES: dict[str, Callable[[], builders.Story]] = {
    "starting": transferring,
    "ringback": lambda: transferring("ringback"),
    "answered": lambda: transferring("answered"),
    "swapped": lambda: transferring_from_main("answered"),
    "blind": lambda: transferring("ringback", mode="blind"),
    "blind and answered": lambda: transferring("answered", mode="blind"),
    "completed": lambda: take_all(transferring("answered"), complete()),
    "completed while it rings": lambda: take_all(transferring("ringback"), complete()),
    "canceled": lambda: take_all(transferring("answered"), cancel()),
    "with a tune": transferring_with_music,
    "inviting": inviting,
    "waiting": waiting_alone,
    "in conference": lambda: in_conference(DAN),
    "coaching": coaching,
    "one put out": lambda: take_all(in_conference(), kick(PEER)),
    "held": lambda: take_all(builders.bridged_call(BOB), hold(builders.MAIN)),
    "a prompt on hold": lambda: take_all(
        builders.answered_call(builders.say()), hold(builders.MAIN)
    ),
}


def inside(story: builders.Story) -> dict[str, set[str]]:
    """Return the desired legs of each bridge."""
    found: dict[str, set[str]] = {bridge: set() for bridge in required_bridges(story.call)}
    for leg, media in desired_media(story.call).items():
        if media.bridge:
            found[media.bridge].add(leg)
    return {bridge: legs for bridge, legs in found.items() if legs}


@pytest.mark.parametrize("state", STATES)
def test_every_leg_returns_to_its_bridge(state: str) -> None:
    """All legs left their bridges in the outage: each is added to its own again."""
    story = STATES[state]()
    before = desired_media(story.call)
    commands = story.take(Recovered())
    joined = {each.bridge: set(each.legs) for each in commands if isinstance(each, AddToBridge)}
    assert joined == inside(story)
    assert desired_media(story.call) == before


@pytest.mark.parametrize("state", STATES)
def test_legs_leave_a_wrong_bridge(state: str) -> None:
    """All legs were seen in the conversation's bridge: those that belong outside leave it."""
    story = STATES[state]()
    legs = [leg.id for leg in story.call.legs if leg.state == "up"]
    commands = story.take(Recovered(tuple((leg, BRIDGE) for leg in legs)))
    outside = {leg for leg, media in desired_media(story.call).items() if not media.bridge}
    assert {each.leg for each in commands if isinstance(each, RemoveFromBridge)} == outside


@pytest.mark.parametrize("state", STATES)
def test_it_is_decoded_as_it_was_stored(state: str) -> None:
    """Call, sessions and outbox survive."""
    story = STATES[state]()
    record = storage_format.StoredCall(story.call, tuple(story.commands), 3)
    assert storage_format.decode_stored_call(storage_format.encode(record)) == record


@pytest.mark.parametrize("state", STATES)
def test_its_log_replays(state: str) -> None:
    """The same call, the same commands."""
    story = STATES[state]()
    story.take(Recovered())
    tree = {"type": "dial", "data": {"number": [BOB]}}
    first = builders.outbound(builders.say() if state == "a prompt on hold" else tree)
    lines = [
        storage_format.encode(storage_format.LogEntry(now, event)) for now, event in story.events
    ]
    moments = list(replay([storage_format.encode(first), *lines]))
    assert moments[-1].call == story.call
    assert [each for moment in moments for each in moment.commands] == story.commands
    assert storage_format.decode_call(storage_format.encode(story.call)) == story.call
