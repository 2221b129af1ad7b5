"""What must hold where several engines work together, beside what must hold everywhere."""

from collections.abc import Iterator, Sequence
from itertools import chain

from engine.calls.model import causes
from engine.calls.model.commands import Hangup
from engine.calls.model.events import LegEnded
from engine.calls.model.io_commands import SendApiRequest, SendWebhook
from engine.calls.model.requests import HangupRequested
from tests.sim.call_log import Story
from tests.sim.checks import faults_of
from tests.sim.cluster.world import World

Fault = tuple[str, str]
WAY_MS = 5


def wrongs(world: World, told: Sequence[Story], hurt: frozenset[str]) -> Iterator[Fault]:
    """Find all that is wrong; where the store has forgotten something, less can be told."""
    yield from world.owners.wrong
    yield from world.watch.wrong
    yield from _left_live(world, hurt)
    if hurt:
        yield from _sparse(world)
        return
    yield from faults_of(world, told)
    yield from _lost_alive(world, told)
    yield from _hung_up(world, told)
    yield from _asked(world, told)
    yield from _unkept(world, told)


def _left_live(world: World, hurt: frozenset[str]) -> Iterator[Fault]:
    live = (world.memory.kept(slot).live for slot in range(world.ground.slots))
    # Whose end alone was lost ends once more when its slot is taken over, not before.
    ended = {call for lost in world.memory.lost for kept in lost.values() for call in kept.ended}
    yield from ((call, "never ended") for call in chain(*live) if call in hurt - ended)


def _sparse(world: World) -> Iterator[Fault]:
    if not world.is_at_rest:
        yield "", "never came to rest"
    yield from (("", f"a task broke: {words}") for words in world.broken)
    for left in (*world.pbx.channels, *world.pbx.bridges, *world.pbx.playbacks):
        yield left, "is left on the PBX"


def _lost_alive(world: World, told: Sequence[Story]) -> Iterator[Fault]:
    """Find legs that were given up while they lived: an engine's death is no reason."""
    for story in told:
        for moment in story.moments:
            match moment.event:
                case LegEnded(leg, causes.LOST) if channel := world.pbx.past.get(leg):
                    ended_ms = world.clock.at_ms if channel.ended_ms is None else channel.ended_ms
                    if channel.born_ms < moment.at_ms < ended_ms - WAY_MS:
                        yield leg, f"was given up at {moment.at_ms} while it lived"
                case _:
                    pass


def _hung_up(world: World, told: Sequence[Story]) -> Iterator[Fault]:
    """Find legs of calls that an engine ended though their call did not want that."""
    begins_ms: dict[str, float] = {}
    ends_ms: dict[str, float] = {}
    for story in told:
        for call in (story.opened, *(moment.call for moment in story.moments)):
            ends_ms |= {leg.id: story.record.call.ended_ms for leg in call.legs}
            begins_ms |= {leg.id: story.moments[0].at_ms for leg in call.legs}
    for story in told:
        for moment in story.moments:
            wanted = [each.leg for each in moment.commands if isinstance(each, Hangup)]
            ends_ms |= {leg: min(moment.at_ms, ends_ms.get(leg, moment.at_ms)) for leg in wanted}
    for channel, at_ms in world.owners.hung_up:
        is_early = channel in ends_ms and at_ms < ends_ms[channel] - WAY_MS
        if is_early and not _was_refused(world, channel, at_ms, begins_ms[channel]):
            yield channel, f"was hung up at {at_ms:.0f}, and its call went on"


def _was_refused(world: World, channel: str, at_ms: float, begin_ms: float) -> bool:
    """Tell whether a caller was refused, which was lost on its way, and was taken in later."""
    past = world.pbx.past.get(channel)
    has_lived_on = past is not None and (past.ended_ms or 0) > at_ms + WAY_MS
    return has_lived_on and at_ms < begin_ms


def _unkept(world: World, told: Sequence[Story]) -> Iterator[Fault]:
    """Find calls whose end was promised to whoever asked for it, and not noted by then."""
    by_id = {story.id: story for story in told}
    for call, at_ms in world.front.promised:
        moments = by_id[call].moments
        asked = (m.at_ms for m in moments if isinstance(m.event, HangupRequested))
        if min((*asked, moments[-1].at_ms)) > at_ms:
            yield call, f"was promised to end at {at_ms:.0f}, and was not asked to"


def _asked(world: World, told: Sequence[Story]) -> Iterator[Fault]:
    """Find webhooks that were asked by another id than the call's own."""
    commands = (command for story in told for command in story.commands())
    wanted = {each.request for each in commands if isinstance(each, (SendApiRequest, SendWebhook))}
    strange = [each for each in world.servers.asked if each not in wanted]
    yield from ((each, "was asked, and no call wanted it") for each in strange)
