"""What a call tells the PBX to end has ended at once."""

from collections.abc import Iterator, Sequence

from engine.calls.model.commands import Hangup, StopPlayback
from tests.harness.sim.channel import SimPlayback
from tests.sim.call_log import Story
from tests.sim.checks.durations import AT_ONCE_MS
from tests.sim.scene import World


def check(world: World, told: Sequence[Story]) -> Iterator[tuple[str, str]]:
    """Check every hangup and every stop."""
    for story in told:
        for moment in story.moments:
            for command in moment.commands:
                match command:
                    case Hangup(leg) if channel := world.pbx.past.get(leg):
                        ended_ms, what = channel.ended_ms, leg
                    case StopPlayback(playback) if heard := _heard(world, playback, moment.at_ms):
                        ended_ms, what = heard.ended_ms, playback
                    case _:
                        continue
                until_ms = world.clock.at_ms if ended_ms is None else ended_ms
                if world.faults.healthy_ms(moment.at_ms, max(until_ms, moment.at_ms)) > AT_ONCE_MS:
                    yield what, f"was to end at {moment.at_ms}, and went on"


def _heard(world: World, playback: str, before_ms: int) -> SimPlayback | None:
    """Find a playback; a tune's round may be played once more, to another leg."""
    heard = world.pbx.heard.get(playback)
    return heard if heard and heard.asked_ms <= before_ms else None
