"""Several engines in the tests: many calls, the seeds that failed once, and planted faults."""

import itertools
import re
from collections.abc import Iterator
from random import Random

import pytest

from tests.sim.cluster import faults
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
)
from tests.sim.cluster.worlds import regression_seeds, run_world, run_worlds
from tests.sim.engine_run import PartOverrides
from tests.sim.outcome import trace_lines, violations_in
from tests.sim.planted.digits import DroppingDtmfListener
from tests.sim.planted.parts import DuplicatingWriter

CALLS = 3_000
WORLDS = 40  # within so many, a planted fault is found


def test_calls_come_to_their_ends_whatever_strikes_several_engines() -> None:
    """Thousands of calls: one engine acts on each at a time, and none is lost with an engine."""
    tally = run_worlds(itertools.count(1_000_000), max_calls=CALLS)

    assert tally.calls >= CALLS
    assert len(tally.faults) >= 15, tally.faults
    assert not tally.failed


def test_seeds_that_failed_once_do_not_fail_again() -> None:
    """What was found once stays mended."""
    assert not run_worlds(regression_seeds()).failed


@pytest.mark.parametrize("seed", [2, 10, 16])
def test_a_seed_is_always_the_same_story(seed: int) -> None:
    """A seed that failed can be looked at: it does the same again, to the millisecond."""
    assert trace_lines(seed, run_world) == trace_lines(seed, run_world)


def test_a_hangup_is_not_lost_with_the_slot() -> None:
    """Asked for while the node is away, and the slot goes to another engine before it is back."""
    tally = run_worlds(itertools.islice(_moving_while_away(), 12))

    assert tally.faults["hung up, and moved while away"] > 10
    assert not tally.failed


def _moving_while_away() -> Iterator[int]:
    """Name seeds of worlds in which nodes are away, and slots move again and again."""
    for seed in itertools.count(2_000_000):
        kinds = faults.choose(Random(seed))
        if {"pbx", "crash"} <= kinds and kinds & {"leave", "kill", "join"}:
            yield seed


PLANTED = {
    "leases are for ever": (
        ClusterOverrides(
            fence_pbx=lambda pbx, _lease: pbx,
            fence_recorder=lambda recorder, _lease: recorder,
            lease=lambda _lease: EndlessLease(),
        ),
        r"ordered .*: slot \d is engine\d's|ordered .* after its lease",
    ),
    "a call is overlooked by who takes it over": (
        ClusterOverrides(link=MissingCallStore),
        "never ended|is left on the PBX|never came to rest",
    ),
    "nobody sees the others": (
        ClusterOverrides(link=IsolatedStore),
        "slots are .* after the last fault",
    ),
    "who was away stays away": (ClusterOverrides(listener=OneTimeListener), "nobody controls slot"),
    "webhooks are asked by other ids": (
        ClusterOverrides(action_client=RenamingActionClient),
        "asked, and no call wanted it",
    ),
    "live legs are not seen": (
        ClusterOverrides(engine=PartOverrides(pbx=BlindPbx)),
        "given up at .* while it lived",
    ),
    "a hangup waits in memory": (ClusterOverrides(shard=DeferringShard), "was promised to end at"),
    "legs are ended for no reason": (
        ClusterOverrides(engine=PartOverrides(pbx=HangingUpPbx)),
        "was hung up at .*, and its call went on",
    ),
    "keys of an outage are lost": (
        ClusterOverrides(engine=PartOverrides(dtmf=DroppingDtmfListener)),
        "gathered .* of .*@.* in",
    ),
    "told twice": (
        ClusterOverrides(engine=PartOverrides(writer=DuplicatingWriter)),
        "published other events than its log has",
    ),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(fault: str) -> None:
    """The checks bite: engines with this fault do not get through."""
    overrides, found = PLANTED[fault]
    message = violations_in(
        range(WORLDS), lambda seed, forbidden: run_world(seed, forbidden, overrides)
    )
    assert any(re.search(found, each) for each in message)
