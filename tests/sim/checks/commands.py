"""Channels and playbacks that a call ends on the PBX end at once."""

from collections.abc import Iterator, Sequence

from engine.calls.model.commands import Hangup, StopPlayback
from tests.harness.sim.model import SimPlayback
from tests.sim.call_histories import CallHistory
from tests.sim.intervals import AT_ONCE_MS
from tests.sim.world_view import WorldView


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every hangup and every stopped playback."""
    for history in histories:
        for step in history.steps:
            for command in step.commands:
                match command:
                    case Hangup(leg) if channel := world.pbx.past.get(leg):
                        ended_ms, what = channel.ended_ms, leg
                    case StopPlayback(playback) if heard := _heard(world, playback, step.at_ms):
                        ended_ms, what = heard.ended_ms, playback
                    case _:
                        continue
                until_ms = world.clock.at_ms if ended_ms is None else ended_ms
                if world.faults.healthy_ms(step.at_ms, max(until_ms, step.at_ms)) > AT_ONCE_MS:
                    yield what, f"should end at {step.at_ms}, but went on"


def _heard(world: WorldView, playback: str, before_ms: int) -> SimPlayback | None:
    """Return a playback; a loop of hold music may be played again to another leg."""
    heard = world.pbx.heard.get(playback)
    return heard if heard and heard.requested_ms <= before_ms else None
