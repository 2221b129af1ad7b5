"""Times of a call move with the clock that they were taken from."""

from typing import Any

import pytest
from msgspec.structs import replace

from engine.calls.model.clock_shift import move_times
from engine.calls.model.commands import EmitEvent
from engine.calls.model.events import ClockChanged, DeadlinePassed, DigitPressed, LegEnded
from engine.calls.states import deadline_ms
from engine.calls.step import step
from tests.harness.calls.builders import HTTPS, MAIN, Story, answered_call, bridged_call, say
from tests.harness.calls.control import BOB, hold
from tests.harness.calls.states import STATES

HOURS_MS = 4 * 3_600_000


def without_times(commands: tuple[Any, ...]) -> list[Any]:
    """Return commands without the times of events."""
    return [each for each in commands if not isinstance(each, EmitEvent)]


@pytest.mark.parametrize("by_ms", [HOURS_MS, -HOURS_MS])
@pytest.mark.parametrize("name", [name for name in STATES if name != "ended"])
def test_every_deadline_moves(name: str, by_ms: int) -> None:
    """The call waits as long as before, whatever its state, and does nothing at once."""
    call = STATES[name]().call
    before = deadline_ms(call)
    moved, commands = step(call, ClockChanged(by_ms), call.created_ms + by_ms + 5_000)
    assert commands == ()
    assert deadline_ms(moved) == (None if before is None else before + by_ms)
    assert move_times(moved, -by_ms) == call


def test_lengths_do_not_move() -> None:
    """Nor do times of the PBX's clock, ids and what customers sent."""
    story = answered_call(say(), custom_data={"at_ms": 1_700_000_000_000})
    story.take(hold(MAIN), 1_000)
    leg = replace(story.call.legs[0], held_ms=700)
    call = replace(story.call, legs=(leg,), held_ms=700)
    moved = move_times(call, HOURS_MS)
    assert moved.legs[0].held_ms == moved.held_ms == 700
    assert moved.legs[0].held_since_ms == leg.held_since_ms + HOURS_MS
    assert moved.custom_data == call.custom_data
    digit = DigitPressed(MAIN, "1", 1_700_000_000_000, 80, 1_700_000_000_000)
    assert move_times(digit, 5) == replace(digit, pressed_ms=1_700_000_000_005)


def test_a_conversation_goes_on_after_a_takeover_by_hours() -> None:
    """Nothing ends it, and its length is that of the conversation."""
    story = bridged_call(BOB)
    story.now += HOURS_MS
    story.take(ClockChanged(HOURS_MS), 60_000)
    assert story.take(DeadlinePassed()) == ()
    [ended] = [story.call.legs[1].id]
    story.take(LegEnded(ended, 16), 1_000)
    story.hang_up()
    story.take(LegEnded(MAIN, 16), 100)
    completed = [each for each in story.emitted if each.event == "completed"]
    [duration] = [each.duration for each in completed]
    assert duration in {63, 64}


def test_a_gather_waits_as_long_as_before() -> None:
    """Its digits count, and its clock ends when it would have ended."""
    plain, moved = (answered_call({"type": "gather", "action": HTTPS}) for _ in range(2))
    moved.now += HOURS_MS
    moved.take(ClockChanged(HOURS_MS))
    for story in (plain, moved):
        story.press("1")
        story.pass_deadline()
    assert moved.now == plain.now + HOURS_MS
    assert without_times(tuple(moved.commands)) == without_times(tuple(plain.commands))


def test_a_call_that_ended_stays_as_it_is() -> None:
    """Its record is out."""
    story = Story(answered_call(say()).call)
    story.take(LegEnded(MAIN, 16))
    assert step(story.call, ClockChanged(5_000), story.now) == (story.call, ())
