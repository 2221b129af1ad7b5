"""Several engines in the tests: many random calls, seeds that failed once, and planted faults."""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection
from typing import Any

import pytest
from msgspec import Struct

from engine.calls.model.storage_format import FORMAT, LaterCall
from engine.runtime.pbx_nodes.node import NO_STREAM_REPORTS, no_peer_digits
from engine.runtime.shard.shard import CallShard
from tests.sim.call_histories import call_histories
from tests.sim.cluster import script
from tests.sim.cluster.environment import ClusterOverrides
from tests.sim.cluster.planted import (
    BlindPbx,
    DeferringShard,
    EndlessLease,
    HangingUpPbx,
    IsolatedStore,
    MissingCallStore,
    OneTimeListener,
    RenamingActionClient,
    SlowHandover,
)
from tests.sim.cluster.script import ClusterScript, ScriptedCluster
from tests.sim.cluster.worlds import (
    PROGRAM,
    regression_seeds,
    run_script,
    run_worlds,
)
from tests.sim.engine_run import PartOverrides
from tests.sim.planted.digits import DroppingDtmfListener
from tests.sim.planted.parts import DuplicatingWriter
from tests.sim.runs.first_seed import first_seed
from tests.sim.runs.report import failures

PARTS = 12  # so short that both cores end at about the same time
PART_CALLS = 300
PART_SEEDS = 100  # more than a part plays
HANDOVERS_WHILE_AWAY = (2008353, 2008361, 2008376, 2010828)
FAULTS = 6  # kinds that a part meets at least (measured: 11 to 16)


@pytest.mark.parametrize("part", range(PARTS))
def test_random_calls_of_several_engines_satisfy_all_checks(part: int) -> None:
    """With any faults, one engine at a time acts on a call, and no call is lost."""
    seeds = itertools.count(first_seed() + part * PART_SEEDS)
    tally = run_worlds(seeds, max_calls=PART_CALLS)

    assert not tally.failed, failures(tally, PROGRAM)
    assert tally.calls >= PART_CALLS
    assert len(tally.injected) >= FAULTS, tally.injected


@pytest.mark.parametrize("seed", regression_seeds())
def test_regression_seed_of_several_engines_satisfies_all_checks(seed: int) -> None:
    """A seed that failed once does not fail again."""
    tally = run_worlds([seed])
    assert not tally.failed, failures(tally, PROGRAM)


def test_hangup_survives_slot_handover() -> None:
    """A hangup requested while the PBX is away survives the slot's move to another engine."""
    tally = run_worlds(HANDOVERS_WHILE_AWAY)

    assert tally.faults["hung up, and moved while away"] >= 10
    assert not tally.failed, failures(tally, PROGRAM)


def _version(engine: str) -> int:
    """Return the stored format of an engine: the first one is of this version."""
    return FORMAT + (engine != "engine0")


def test_calls_of_a_later_version_wait_for_an_engine_that_reads_them() -> None:
    """During an upgrade its only engine dies: another one leaves the calls alone, and none ends."""
    assert run_script(script.UPGRADE, ClusterOverrides(stored_format=_version)) == []


def _ends(clock_offset_ms: Callable[[str], int]) -> list[tuple[Any, ...]]:
    """Return how the calls of a script ended whose first engine is killed."""
    overrides = ClusterOverrides(clock_offset_ms=clock_offset_ms)
    world = ScriptedCluster(script.ENGINE_KILLED, overrides)
    world.run()
    histories = [each for shard in world.env.shards for each in call_histories(world.memory, shard)]
    ends = [each for history in histories for each in history.events if each.event == "completed"]
    tens = ((each, round((each.duration or 0), -1)) for each in ends)  # of seconds
    return sorted((e.from_, e.call_status, e.reason or "", e.ended_by, s) for e, s in tens)


@pytest.mark.parametrize("hours", [4, -4])
def test_takeover_between_clocks_that_differ_by_hours_ends_no_call(hours: int) -> None:
    """The calls end as they do with equal clocks."""
    expected = _ends(lambda _engine: 0)
    assert len(expected) == script.CALLS
    assert _ends(lambda engine: hours * 3_600_000 if engine != "engine0" else 0) == expected


class ReapingShard(CallShard):
    """Treats the calls of a later version like orphans."""

    def leave_alone(self, calls: Collection[LaterCall]) -> None:
        """Ignore the calls."""


class Planted(Struct, frozen=True):
    """A fault: the script in which it shows, the broken part, and a pattern of the violation."""

    script: ClusterScript
    overrides: ClusterOverrides
    violation: str


PLANTED = {
    "leases never end": Planted(
        script.STORE_CUT,
        ClusterOverrides(
            fence_pbx=lambda pbx, _lease: pbx,
            fence_recorder=lambda recorder, _lease: recorder,
            lease=lambda _lease: EndlessLease(),
        ),
        r"sent .*: shard \S+ belongs to engine\d|sent .* after its lease",
    ),
    "a takeover misses a call": Planted(
        script.ENGINE_KILLED,
        ClusterOverrides(link=MissingCallStore),
        "never ended|is left on the PBX|never came to rest",
    ),
    "engines do not see each other": Planted(
        script.ENGINE_KILLED,
        ClusterOverrides(link=IsolatedStore),
        "shards are .* after the last fault",
    ),
    "engines do not reconnect": Planted(
        script.WEBSOCKETS_LOST,
        ClusterOverrides(listener=OneTimeListener),
        "no engine controls shard",
    ),
    "a handover takes too long": Planted(
        script.HANDOVERS, ClusterOverrides(shards=SlowHandover), "no engine controls shard"
    ),
    "webhooks have other request ids": Planted(
        script.WEBHOOK,
        ClusterOverrides(action_client=RenamingActionClient),
        "was sent, but no call requested it",
    ),
    "calls of a later version are orphans": Planted(
        script.UPGRADE,
        ClusterOverrides(stored_format=_version, shard=ReapingShard),
        "was hung up at .*, but its call went on",
    ),
    "live legs are not listed": Planted(
        script.ENGINE_KILLED,
        ClusterOverrides(engine=PartOverrides(pbx=BlindPbx)),
        "given up at .* while it lived",
    ),
    "a hangup waits in memory": Planted(
        script.HANGUP_WHILE_AWAY,
        ClusterOverrides(shard=DeferringShard),
        "hangup was accepted at",
    ),
    "legs are hung up for no reason": Planted(
        script.WHISPERS,
        ClusterOverrides(engine=PartOverrides(pbx=lambda pbx: HangingUpPbx(pbx, every=3))),
        "was hung up at .*, but its call went on",
    ),
    "digits of an outage are lost": Planted(
        script.ENGINE_KILLED,
        ClusterOverrides(engine=PartOverrides(dtmf=DroppingDtmfListener)),
        "gathered .* of .*@.* in",
    ),
    "transcripts of an outage are forgotten": Planted(
        script.ENGINE_KILLED_IN_SPEECH,
        ClusterOverrides(stream_reports=lambda _reports: NO_STREAM_REPORTS),
        "was understood, but its gather ended by",
    ),
    "the deputy's digits are ignored": Planted(
        script.OWNER_KILLED,
        ClusterOverrides(peer_digits=lambda _ask: no_peer_digits),
        "gathered .* of .*@.* in",
    ),
    "an event is published twice": Planted(
        script.CALM,
        ClusterOverrides(
            engine=PartOverrides(writer=lambda writer: DuplicatingWriter(writer, every=10))
        ),
        "published other events than its log has",
    ),
    "marks without end": Planted(
        script.FLOOD,
        ClusterOverrides(engine=PartOverrides(max_log_lines=lambda _lines: 1_000_000_000)),
        "has a log of",
    ),
}


def test_a_flood_of_marks_disturbs_no_other_call() -> None:
    """Its call ends when its log is full, also if another engine takes it over before."""
    world = ScriptedCluster(script.FLOOD, ClusterOverrides())
    world.run()
    histories = [each for shard in world.env.shards for each in call_histories(world.memory, shard)]
    reasons = Counter(each.record.call.reason for each in histories)
    assert reasons == {"call_too_large": 1, "": script.CALLS - 1}
    assert run_script(script.FLOOD, ClusterOverrides()) == []


@pytest.mark.parametrize("fault", PLANTED)
def test_planted_cluster_fault_is_found(fault: str) -> None:
    """The checks find each fault in the script that was written for it."""
    planted = PLANTED[fault]
    violations = run_script(planted.script, planted.overrides)
    assert any(re.search(planted.violation, each) for each in violations), violations
