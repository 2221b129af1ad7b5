"""Deadlines: each call has one timer, set to its nearest deadline."""

import pytest
from structlog.testing import capture_logs

from engine.calls.model.call import Call, Step
from engine.calls.model.call_states import Gathering
from engine.calls.model.events import DeadlinePassed, DigitPressed, Event, LegEnded
from engine.calls.model.requests import HangupRequested
from engine.calls.states import deadline_ms
from engine.calls.step import step
from engine.runtime.pbx_nodes.recent_digits import RecentDigits
from tests.harness.calls.builders import MAIN, outbound
from tests.harness.runtime.shard_scene import HANGUP, ORIGINATE, ShardScene, answered_call


def test_the_timer_follows_the_deadline() -> None:
    """A timer that fires early is set again; the end of the call cancels it."""
    scene = ShardScene()
    live_call = scene.shard.start_call(outbound())
    scene.pbx.settle()
    scene.clock.pass_ms(29_999)
    assert scene.pbx.lines[-1] == ORIGINATE
    scene.clock.pass_ms(1)
    assert scene.pbx.lines[-1] == HANGUP
    scene.shard.feed(live_call, LegEnded(MAIN, 19))
    assert scene.clock.armed == []


def test_a_timer_that_is_early_is_set_again() -> None:
    """A deadline that moved away costs no cancellation."""
    scene = ShardScene()
    live_call = answered_call(
        scene, {"type": "gather", "data": {"timeout": 60_000, "digitTimeout": 1_000}}
    )
    scene.clock.pass_ms(59_000)
    scene.shard.feed(live_call, DigitPressed(MAIN, "1", scene.clock.now))
    assert len(scene.clock.armed) == 1
    scene.clock.pass_ms(1_200)
    assert scene.pbx.lines[-1] == HANGUP


def test_a_digit_from_ami_precedes_its_timeout() -> None:
    """The websocket is lost without notice: the digit metrics before the timeout."""
    scene = ShardScene()
    live_call = answered_call(
        scene, {"type": "gather", "data": {"timeout": 2_000, "digitTimeout": 1_000}}
    )
    recent_digits = RecentDigits(scene.clock)
    scene.host.digits = recent_digits.digits
    scene.clock.pass_ms(500)
    recent_digits.on_digit(MAIN, "1", 80, scene.clock.now)
    scene.clock.pass_ms(1_620)
    assert isinstance(live_call.call.state, Gathering)
    assert live_call.call.state.digits == "1"
    assert scene.clock.armed[0].when_ms == deadline_ms(live_call.call)
    scene.clock.pass_ms(1_120)
    assert not isinstance(live_call.call.state, Gathering)


def test_an_earlier_deadline_moves_the_timer() -> None:
    """The timer is moved when the new deadline comes first."""
    scene = ShardScene()
    live_call = answered_call(scene, {"type": "gather", "data": {"timeout": 600_000}})
    scene.shard.feed(live_call, HangupRequested("api"))
    scene.pbx.settle()
    scene.clock.pass_ms(5_000)
    assert scene.pbx.lines[-2:] == [HANGUP, HANGUP]


def test_a_deadline_without_effect_passes_again_later() -> None:
    """A fault of the core does not keep the engine busy; another event ends the wait."""

    def ignore_deadlines(call: Call, event: Event, now: int) -> Step:
        return (call, ()) if isinstance(event, DeadlinePassed) else step(call, event, now)

    scene = ShardScene(ignore_deadlines)
    live_call = answered_call(scene, {"type": "pause", "data": {"length": 2}})
    with capture_logs() as logged:
        scene.clock.pass_ms(2_500)
    assert [each["event"] for each in logged] == ["deadline had no effect"]
    assert [each.when_ms - scene.clock.now for each in scene.clock.armed] == [500]
    scene.shard.feed(live_call, LegEnded(MAIN, 16))
    assert scene.clock.armed == []


def test_a_gather_waits_for_a_key_that_is_down() -> None:
    """AMI reports its key-down; its release is the digit, and nothing is stored before."""
    scene = ShardScene()
    live_call = answered_call(
        scene, {"type": "gather", "data": {"timeout": 2_000, "digitTimeout": 1_000}}
    )
    recent_digits = RecentDigits(scene.clock)
    scene.host.digits, scene.host.down = recent_digits.digits, recent_digits.keys_down
    changes = len(scene.writer.changes)
    scene.clock.pass_ms(1_990)
    recent_digits.on_digit_started(MAIN, scene.clock.now)
    assert len(scene.writer.changes) == changes
    scene.clock.pass_ms(1_500)
    assert isinstance(live_call.call.state, Gathering)
    recent_digits.on_digit(MAIN, "1", 1_500, scene.clock.now)
    now = scene.clock.now
    scene.shard.feed(live_call, DigitPressed(MAIN, "1", now - 1_500, 1_500, now))
    assert live_call.call.state.digits == "1"
    scene.clock.pass_ms(1_120)
    assert not isinstance(live_call.call.state, Gathering)


@pytest.mark.parametrize("early_ms", range(1, 6))
def test_a_deadline_passes_while_the_call_is_examined(early_ms: int) -> None:
    """A timer fires early and the clock goes on: a key that is down still counts."""
    scene = ShardScene()
    live_call = answered_call(scene, {"type": "gather", "data": {"timeout": 2_000}})
    recent_digits = RecentDigits(scene.clock)
    scene.host.digits, scene.host.down = recent_digits.digits, recent_digits.keys_down
    recent_digits.on_digit_started(MAIN, scene.clock.now)
    timer = scene.clock.armed[0]
    scene.clock.pass_ms(timer.when_ms - early_ms - scene.clock.now)
    scene.clock.timers.remove(timer)
    scene.clock.reading_takes_ms = 1
    timer.callback()
    scene.clock.reading_takes_ms = 0
    scene.clock.pass_ms(10)
    assert isinstance(live_call.call.state, Gathering)
    assert live_call.call.state.awaits_key_up
