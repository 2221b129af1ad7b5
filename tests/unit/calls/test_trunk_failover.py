"""A number is called over the next trunk if one has no circuit for it."""

import pytest
from msgspec.structs import replace

from engine.calls.model.causes import (
    BUSY,
    CONGESTION,
    LOST,
    NO_CIRCUIT,
    NORMAL,
    TEMPORARY_FAILURE,
)
from engine.calls.model.commands import Dial, Originate
from engine.calls.model.events import Event, LegAnswered, LegCreated, LegEnded, LegRinging
from tests.harness.calls.builders import MAIN, Story, dialing_call
from tests.harness.calls.dials import BOB, FIRST


def dialing(party: str = BOB, trunks: int = 2) -> Story:
    story = dialing_call(party, timeout=20)
    story.call = replace(story.call, trunks=trunks)
    return story


def feed(story: Story, *events: Event) -> None:
    for each in events:
        story.take(each)


def attempts(story: Story) -> list[int]:
    """Return the trunks over which the party was called."""
    return [each.trunk for each in story.commands_of(Originate) if each.leg == FIRST]


@pytest.mark.parametrize("is_created", [False, True])
@pytest.mark.parametrize(("cause", "sip_code"), [(NO_CIRCUIT, 0), (CONGESTION, 0), (BUSY, 503)])
def test_no_circuit(is_created: bool, cause: int, sip_code: int) -> None:
    """The same leg is called over the next trunk, and shows the same number."""
    story = dialing()
    if is_created:
        feed(story, LegCreated(FIRST))
    events = len(story.emitted)
    feed(story, LegEnded(FIRST, cause, sip_code))
    first, second = [each for each in story.commands_of(Originate) if each.leg == FIRST]
    assert second == replace(first, trunk=1)
    assert len(story.emitted) == events
    feed(story, LegCreated(FIRST), LegAnswered(FIRST))
    assert story.commands_of(Dial)[-1].leg == FIRST
    assert story.call.is_up(FIRST)


def test_each_trunk_is_tried_once() -> None:
    """Then the leg has ended, with the last trunk's cause."""
    story = dialing(trunks=3)
    for _ in range(3):
        feed(story, LegCreated(FIRST), LegEnded(FIRST, CONGESTION, 503))
    assert attempts(story) == [0, 1, 2]
    assert story.call.leg(FIRST) is None
    ended = story.call.ended_legs[-1]
    assert (ended.cause, ended.sip_code) == (CONGESTION, 503)


@pytest.mark.parametrize(
    ("party", "trunks", "event"),
    [
        (BOB, 1, LegEnded(FIRST, CONGESTION, 503)),
        (BOB, 2, LegEnded(FIRST, BUSY, 486)),
        (BOB, 2, LegEnded(FIRST, NO_CIRCUIT, reason="live_legs")),
        (BOB, 2, LegEnded(FIRST, LOST, seen_ms=1)),
        ("agent:1001", 2, LegEnded(FIRST, CONGESTION, 503)),
        ("sip:bob@example.com", 2, LegEnded(FIRST, CONGESTION, 503)),
    ],
)
def test_other_ends(party: str, trunks: int, event: LegEnded) -> None:
    """One trunk, another cause, a rejection, or a party that has an address of its own."""
    story = dialing(party, trunks)
    feed(story, LegCreated(FIRST), event)
    assert attempts(story) == [0]
    assert story.call.leg(FIRST) is None


def test_a_party_that_rings_has_been_reached() -> None:
    """It is not called a second time."""
    story = dialing()
    feed(story, LegCreated(FIRST), LegRinging(FIRST), LegEnded(FIRST, CONGESTION, 503))
    assert attempts(story) == [0]


def test_what_comes_late_from_the_last_trunk() -> None:
    """The reply to its dial does not end the leg at the next one; an unknown end does."""
    story = dialing()
    feed(story, LegCreated(FIRST), LegEnded(FIRST, NO_CIRCUIT))
    feed(story, LegEnded(FIRST, TEMPORARY_FAILURE))
    assert story.call.leg(FIRST) is not None
    feed(story, LegEnded(FIRST, LOST, seen_ms=1))
    assert story.call.leg(FIRST) is None


def test_the_caller_has_left_meanwhile() -> None:
    """A leg that is not expected any more is not called over another trunk."""
    story = dialing()
    feed(story, LegCreated(FIRST), LegEnded(MAIN, NORMAL), LegEnded(FIRST, CONGESTION, 503))
    assert attempts(story) == [0]
