"""A desk's calls and their deadlines: one timer a call, which follows the nearest."""

from engine.calls.model.events import DigitPressed, LegEnded
from engine.calls.model.requests import HangupRequested
from engine.calls.model.state import Gathering
from engine.runtime.nodes.dtmf_log import DtmfLog
from tests.unit.calls.harness.builders import MAIN, outbound
from tests.unit.runtime.harness.shard_bench import HANGUP, ORIGINATE, ShardBench, answered_call


def test_the_timer_follows_the_deadline() -> None:
    """One timer a call; when it fires early it is set again, when the call ends it is off."""
    world = ShardBench()
    actor = world.shard.start_call(outbound())
    world.pbx.settle()
    world.clock.pass_ms(29_999)
    assert world.pbx.lines[-1] == ORIGINATE
    world.clock.pass_ms(1)
    assert world.pbx.lines[-1] == HANGUP
    world.shard.feed(actor, LegEnded(MAIN, 19))
    assert world.clock.armed == []


def test_a_timer_that_is_early_is_set_again() -> None:
    """A deadline that moved away costs no cancelling."""
    world = ShardBench()
    actor = answered_call(
        world, {"type": "gather", "data": {"timeout": 60_000, "digitTimeout": 1_000}}
    )
    world.clock.pass_ms(59_000)
    world.shard.feed(actor, DigitPressed(MAIN, "1", world.clock.now))
    assert len(world.clock.armed) == 1
    world.clock.pass_ms(1_200)
    assert world.pbx.lines[-1] == HANGUP


def test_a_key_that_only_ami_has_told_comes_before_the_end_of_its_time() -> None:
    """The websocket is lost, and nobody knows: the caller is not told to have been silent."""
    world = ShardBench()
    actor = answered_call(
        world, {"type": "gather", "data": {"timeout": 2_000, "digitTimeout": 1_000}}
    )
    heard = DtmfLog(world.clock)
    world.host.digits = heard.digits
    world.clock.pass_ms(500)
    heard.on_digit(MAIN, "1", 80, world.clock.now)
    world.clock.pass_ms(1_620)
    assert isinstance(actor.call.state, Gathering)
    assert actor.call.state.digits == "1"
    world.clock.pass_ms(1_120)
    assert not isinstance(actor.call.state, Gathering)


def test_a_deadline_that_comes_nearer_is_kept() -> None:
    """The timer is moved when the new deadline is before it."""
    world = ShardBench()
    actor = answered_call(world, {"type": "gather", "data": {"timeout": 600_000}})
    world.shard.feed(actor, HangupRequested("api"))
    world.pbx.settle()
    world.clock.pass_ms(5_000)
    assert world.pbx.lines[-2:] == [HANGUP, HANGUP]
