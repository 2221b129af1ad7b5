"""A dialled leg that has answered is bridged or hung up at once; nobody is alone in a bridge."""

from collections.abc import Iterator, Sequence

from tests.harness.sim_channel import SimChannel
from tests.harness.sim_phone import is_dialled
from tests.sim.story import Story
from tests.sim.world import World

AT_ONCE_MS = 1_000


def check(world: World, told: Sequence[Story]) -> Iterator[tuple[str, str]]:
    """Check every leg of a world."""
    opened = {story.opened.main for story in told}
    channels = [*world.pbx.past.values(), *world.pbx.channels.values()]
    for channel in channels:
        if is_dialled(channel) and (waited_ms := _waited_ms(world, channel)) > AT_ONCE_MS:
            yield channel.id, f"answered, and left in silence for {waited_ms:.0f} ms"
        # Nobody repeats a refusal that was lost: the reaper has it.
        is_due = channel.id in opened or "lost" not in world.faults.kinds
        if is_due and _is_unanswered(world, channel):
            yield channel.id, "came in and was not answered"
    yield from _lonely(world, channels)


def _waited_ms(world: World, channel: SimChannel) -> float:
    if channel.up_ms is None:
        return 0
    bridged = (span.begin_ms for span in channel.spans if span.kind == "bridge")
    until_ms = next(bridged, channel.ended_ms or world.clock.at_ms)
    return world.faults.healthy_ms(channel.up_ms, until_ms)


def _is_unanswered(world: World, channel: SimChannel) -> bool:
    if not channel.is_inbound or channel.up_ms is not None or not channel.in_stasis:
        return False
    until_ms = channel.ended_ms or world.clock.at_ms
    return world.faults.healthy_ms(channel.born_ms, until_ms) > AT_ONCE_MS


def _lonely(world: World, channels: Sequence[SimChannel]) -> Iterator[tuple[str, str]]:
    moves: dict[str, list[tuple[float, int]]] = {}
    for channel in channels:
        for span in channel.spans:
            if span.kind == "bridge":
                end_ms = world.clock.at_ms if span.end_ms is None else span.end_ms
                moves.setdefault(span.what, []).extend([(span.begin_ms, 1), (end_ms, -1)])
    for bridge, changes in moves.items():
        members, since_ms = 0, 0.0
        for at_ms, change in sorted(changes):
            if members == 1 and world.faults.healthy_ms(since_ms, at_ms) > AT_ONCE_MS:
                yield bridge, f"held one alone for {at_ms - since_ms:.0f} ms"
            members, since_ms = members + change, at_ms
