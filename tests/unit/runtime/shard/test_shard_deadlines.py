"""Deadlines: each call has one timer, set to its nearest deadline."""

import pytest
from structlog.testing import capture_logs

from engine.calls.model.call import Call, Step
from engine.calls.model.call_states import Gathering
from engine.calls.model.events import DeadlinePassed, DigitPressed, Event, LegEnded
from engine.calls.model.requests import HangupRequested
from engine.calls.step import step
from engine.runtime.pbx_nodes.recent_digits import RecentDigits
from tests.unit.calls.harness.builders import MAIN, outbound
from tests.unit.runtime.harness.shard_bench import HANGUP, ORIGINATE, ShardBench, answered_call


def test_the_timer_follows_the_deadline() -> None:
    """A timer that fires early is set again; the end of the call cancels it."""
    bench = ShardBench()
    live_call = bench.shard.start_call(outbound())
    bench.pbx.settle()
    bench.clock.pass_ms(29_999)
    assert bench.pbx.lines[-1] == ORIGINATE
    bench.clock.pass_ms(1)
    assert bench.pbx.lines[-1] == HANGUP
    bench.shard.feed(live_call, LegEnded(MAIN, 19))
    assert bench.clock.armed == []


def test_a_timer_that_is_early_is_set_again() -> None:
    """A deadline that moved away costs no cancellation."""
    bench = ShardBench()
    live_call = answered_call(
        bench, {"type": "gather", "data": {"timeout": 60_000, "digitTimeout": 1_000}}
    )
    bench.clock.pass_ms(59_000)
    bench.shard.feed(live_call, DigitPressed(MAIN, "1", bench.clock.now))
    assert len(bench.clock.armed) == 1
    bench.clock.pass_ms(1_200)
    assert bench.pbx.lines[-1] == HANGUP


def test_a_digit_from_ami_precedes_its_timeout() -> None:
    """The websocket is lost without notice: the digit metrics before the timeout."""
    bench = ShardBench()
    live_call = answered_call(
        bench, {"type": "gather", "data": {"timeout": 2_000, "digitTimeout": 1_000}}
    )
    recent_digits = RecentDigits(bench.clock)
    bench.host.digits = recent_digits.digits
    bench.clock.pass_ms(500)
    recent_digits.on_digit(MAIN, "1", 80, bench.clock.now)
    bench.clock.pass_ms(1_620)
    assert isinstance(live_call.call.state, Gathering)
    assert live_call.call.state.digits == "1"
    bench.clock.pass_ms(1_120)
    assert not isinstance(live_call.call.state, Gathering)


def test_an_earlier_deadline_moves_the_timer() -> None:
    """The timer is moved when the new deadline comes first."""
    bench = ShardBench()
    live_call = answered_call(bench, {"type": "gather", "data": {"timeout": 600_000}})
    bench.shard.feed(live_call, HangupRequested("api"))
    bench.pbx.settle()
    bench.clock.pass_ms(5_000)
    assert bench.pbx.lines[-2:] == [HANGUP, HANGUP]


def test_a_deadline_without_effect_passes_again_later() -> None:
    """A fault of the core does not keep the engine busy; another event ends the wait."""

    def ignore_deadlines(call: Call, event: Event, now: int) -> Step:
        return (call, ()) if isinstance(event, DeadlinePassed) else step(call, event, now)

    bench = ShardBench(ignore_deadlines)
    live_call = answered_call(bench, {"type": "pause", "data": {"length": 2}})
    with capture_logs() as logged:
        bench.clock.pass_ms(2_500)
    assert [each["event"] for each in logged] == ["deadline had no effect"]
    assert [each.when_ms - bench.clock.now for each in bench.clock.armed] == [500]
    bench.shard.feed(live_call, LegEnded(MAIN, 16))
    assert bench.clock.armed == []


def test_a_gather_waits_for_a_key_that_is_down() -> None:
    """AMI reports its key-down; its release is the digit, and nothing is stored before."""
    bench = ShardBench()
    live_call = answered_call(
        bench, {"type": "gather", "data": {"timeout": 2_000, "digitTimeout": 1_000}}
    )
    recent_digits = RecentDigits(bench.clock)
    bench.host.digits, bench.host.down = recent_digits.digits, recent_digits.keys_down
    changes = len(bench.writer.changes)
    bench.clock.pass_ms(1_990)
    recent_digits.on_digit_started(MAIN, bench.clock.now)
    assert len(bench.writer.changes) == changes
    bench.clock.pass_ms(1_500)
    assert isinstance(live_call.call.state, Gathering)
    recent_digits.on_digit(MAIN, "1", 1_500, bench.clock.now)
    now = bench.clock.now
    bench.shard.feed(live_call, DigitPressed(MAIN, "1", now - 1_500, 1_500, now))
    assert live_call.call.state.digits == "1"
    bench.clock.pass_ms(1_120)
    assert not isinstance(live_call.call.state, Gathering)


@pytest.mark.parametrize("early_ms", range(1, 6))
def test_a_deadline_passes_while_the_call_is_examined(early_ms: int) -> None:
    """A timer fires early and the clock goes on: a key that is down still counts."""
    bench = ShardBench()
    live_call = answered_call(bench, {"type": "gather", "data": {"timeout": 2_000}})
    recent_digits = RecentDigits(bench.clock)
    bench.host.digits, bench.host.down = recent_digits.digits, recent_digits.keys_down
    recent_digits.on_digit_started(MAIN, bench.clock.now)
    timer = bench.clock.armed[0]
    bench.clock.pass_ms(timer.when_ms - early_ms - bench.clock.now)
    bench.clock.timers.remove(timer)
    bench.clock.reading_takes_ms = 1
    timer.callback()
    bench.clock.reading_takes_ms = 0
    bench.clock.pass_ms(10)
    assert isinstance(live_call.call.state, Gathering)
    assert live_call.call.state.awaits_key_up
