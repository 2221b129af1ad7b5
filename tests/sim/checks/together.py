"""Who talk to each other are in one bridge: all of a conversation, but for who is held or coaches.

So is a customer who comes back from a transfer that was canceled or failed. This looks at the PBX
and at the conversation, not at where the core seats its legs.
"""

from collections.abc import Iterator, Sequence

from engine.calls.model.call import Call
from engine.calls.model.state import Bridged
from tests.sim.call_log import Story
from tests.sim.checks.durations import Span, is_long, joined, without
from tests.sim.scene import World


def check(world: World, told: Sequence[Story]) -> Iterator[tuple[str, str]]:
    """Check every conversation."""
    for story in told:
        for (name, bridge), due in _due(story).items():
            for stretch in joined(_parted(world, name, bridge, due)):
                if is_long(world, stretch):
                    yield name, f"was parted from the others for {stretch[1] - stretch[0]:.0f} ms"


def _due(story: Story) -> dict[tuple[str, str], list[Span]]:
    found: dict[tuple[str, str], list[Span]] = {}
    for begin_ms, end_ms, call in story.stretches():
        if isinstance(call.state, Bridged) and call.transfer is None:
            for name in _talkers(call, call.state):
                found.setdefault((name, call.state.bridge), []).append((begin_ms, end_ms))
    return found


def _talkers(call: Call, doing: Bridged) -> list[str]:
    up = [each for each in (call.main, *doing.legs) if call.is_up(each)]
    members = call.conference.members if call.conference else ()
    coaching = {each.leg for each in members if each.is_snooping}
    held = {each.id for each in call.legs if each.held}
    return [each for each in up if each not in coaching | held] if len(up) > 1 else []


def _parted(world: World, name: str, bridge: str, due: list[Span]) -> Iterator[Span]:
    channel = world.pbx.past.get(name)
    if channel is None or channel.up_ms is None:
        return
    end_ms = world.clock.at_ms if channel.ended_ms is None else channel.ended_ms
    there = [
        (span.begin_ms, end_ms if span.end_ms is None else span.end_ms)
        for span in channel.spans
        if span.kind == "bridge" and span.what == bridge
    ]
    away = [(0.0, channel.up_ms), (end_ms, max(end_ms, world.clock.at_ms))]
    yield from without(due, [*there, *away])
