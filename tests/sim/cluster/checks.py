"""The checks that hold for several engines, in addition to those of every world."""

from collections.abc import Iterator, Sequence
from itertools import chain

from engine.calls.model import causes
from engine.calls.model.commands import Hangup
from engine.calls.model.events import LegEnded
from engine.calls.model.io_commands import SendApiRequest, SendWebhook
from engine.calls.model.requests import HangupRequested
from tests.sim.call_histories import CallHistory
from tests.sim.checks import find_violations
from tests.sim.cluster.world import ClusterWorld
from tests.sim.engine_run import GRACE_MS

Violation = tuple[str, str]
WAY_MS = 5


def find_cluster_violations(
    world: ClusterWorld, histories: Sequence[CallHistory], incomplete: frozenset[str]
) -> Iterator[Violation]:
    """Run all checks; fewer apply to calls of which the store lost a part."""
    yield from world.lease_checker.violations
    yield from world.monitor.violations
    yield from _left_live(world, incomplete)
    if incomplete:
        yield from _sparse(world)
        return
    yield from find_violations(world, histories)
    yield from _lost_alive(world, histories)
    yield from _hung_up(world, histories)
    yield from _unexpected_webhooks(world, histories)
    yield from _lost_hangups(world, histories)


def _left_live(world: ClusterWorld, incomplete: frozenset[str]) -> Iterator[Violation]:
    live = (world.memory.kept(shard).live for shard in world.env.shards)
    # A call of which only the end was lost ends again when its shard is taken over.
    ended = {call for lost in world.memory.lost for kept in lost.values() for call in kept.ended}
    yield from ((call, "never ended") for call in chain(*live) if call in incomplete - ended)


def _sparse(world: ClusterWorld) -> Iterator[Violation]:
    if not world.is_at_rest:
        yield "", "never came to rest"
    yield from (("", f"a task failed: {message}") for message in world.task_errors)
    for left in (*world.pbx.channels, *world.pbx.bridges, *world.pbx.playbacks):
        yield left, "is left on the PBX"


def _lost_alive(world: ClusterWorld, histories: Sequence[CallHistory]) -> Iterator[Violation]:
    """Find legs that were given up while they lived: an engine's death is no reason."""
    for history in histories:
        for step in history.steps:
            match step.event:
                case LegEnded(leg, causes.LOST) if channel := world.pbx.past.get(leg):
                    ended_ms = world.clock.at_ms if channel.ended_ms is None else channel.ended_ms
                    was_alive = channel.born_ms < step.at_ms < ended_ms - WAY_MS
                    if was_alive and not _is_one_outage(world, step.at_ms):
                        yield leg, f"was given up at {step.at_ms} while it lived"
                case _:
                    pass


def _is_one_outage(world: ClusterWorld, end_ms: float) -> bool:
    """Return whether an engine may have had no connection to its PBX for the whole grace time.

    Two cuts are one outage if it did not reconnect between them.
    """
    is_cut = "cut pbx" in world.faults.kinds
    return is_cut and not world.faults.healthy_ms(end_ms - GRACE_MS, end_ms)


def _hung_up(world: ClusterWorld, histories: Sequence[CallHistory]) -> Iterator[Violation]:
    """Find legs that an engine hung up although their call did not command it."""
    ends_ms: dict[str, float] = {}
    for history in histories:
        for call in (history.opened, *(step.call for step in history.steps)):
            ends_ms |= {leg.id: history.record.call.ended_ms for leg in call.legs}
    for history in histories:
        for step in history.steps:
            wanted = [each.leg for each in step.commands if isinstance(each, Hangup)]
            ends_ms |= {leg: min(step.at_ms, ends_ms.get(leg, step.at_ms)) for leg in wanted}
    for channel, at_ms in world.lease_checker.hung_up:
        if channel in ends_ms and at_ms < ends_ms[channel] - WAY_MS:
            yield channel, f"was hung up at {at_ms:.0f}, but its call went on"


def _lost_hangups(world: ClusterWorld, histories: Sequence[CallHistory]) -> Iterator[Violation]:
    """Find accepted hangup requests that were not stored by then."""
    by_id = {history.id: history for history in histories}
    for call, at_ms in world.clients.accepted_hangups:
        steps = by_id[call].steps
        requested_ms = (m.at_ms for m in steps if isinstance(m.event, HangupRequested))
        if min((*requested_ms, steps[-1].at_ms)) > at_ms:
            yield call, f"hangup was accepted at {at_ms:.0f}, but not stored by then"


def _unexpected_webhooks(
    world: ClusterWorld, histories: Sequence[CallHistory]
) -> Iterator[Violation]:
    """Find webhooks whose request id belongs to no call."""
    commands = (command for history in histories for command in history.commands)
    wanted = {each.request for each in commands if isinstance(each, (SendApiRequest, SendWebhook))}
    unexpected = [each for each in world.servers.bodies if each not in wanted]
    yield from ((each, "was sent, but no call requested it") for each in unexpected)
