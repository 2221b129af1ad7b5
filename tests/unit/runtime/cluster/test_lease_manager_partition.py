"""Slots when an engine can't reach a node: alone, and when nobody can."""

from engine.runtime.cluster.timings import LeaseTimings
from tests.unit.runtime.harness.cluster_bench import RHYTHM, Club

SETTLED = 20
DEAF = 3  # beats, one question before each


async def test_one_that_alone_misses_a_node_gives_all_back() -> None:
    """At once, as soon as it is sure, and it claims none while that lasts; the other has all."""
    club = Club("a", "b", nodes=("pbx1", "pbx2"))
    await club.beats(SETTLED)
    assert club.held() == {"a": 4, "b": 4}
    club["a"].misses = {"pbx1"}
    await club.beats(DEAF - 1)
    assert club.held() == {"a": 4, "b": 4}
    await club.beats()
    assert club.held() == {"a": 0, "b": 8}
    assert set(club["a"].diary.did("settle")) >= set(club["a"].diary.did("drop"))
    await club.beats(SETTLED)
    assert club.held() == {"a": 0, "b": 8}


async def test_it_gets_its_share_again() -> None:
    """Slot by slot, once it has heard the node for a while."""
    club = Club("a", "b", nodes=("pbx1",))
    await club.beats(SETTLED)
    club["a"].misses = {"pbx1"}
    await club.beats(SETTLED)
    club["a"].misses = set()
    await club.beats(9)
    assert club.held() == {"a": 0, "b": 8}
    await club.beats(SETTLED)
    assert club.held() == {"a": 4, "b": 4}


async def test_nobody_reaches_it() -> None:
    """The node is dead: all keep what they have, while it is away and when it comes back."""
    club = Club("a", "b", nodes=("pbx1", "pbx2"))
    await club.beats(SETTLED)
    for member in club.members.values():
        member.misses = {"pbx1"}
        member.diary.lines.clear()
    await club.beats(SETTLED)
    club["b"].misses = set()
    await club.beats(2)
    club["a"].misses = set()
    await club.beats(2 * SETTLED)
    assert club.held() == {"a": 4, "b": 4}
    assert club["a"].diary.lines + club["b"].diary.lines == []


async def test_alone() -> None:
    """Who is alone keeps its slots, whatever it misses."""
    club = Club("a", nodes=("pbx1", "pbx2"))
    await club.beats(SETTLED)
    club["a"].misses = {"pbx1"}
    await club.beats(SETTLED)
    assert club.held() == {"a": 8}


async def test_the_one_that_heard_it_dies() -> None:
    """Its last word counts while its lease runs; then who is left has all, missing what it may."""
    club = Club("a", "b", nodes=("pbx1",))
    await club.beats(SETTLED)
    club["a"].misses = {"pbx1"}
    await club.beats(SETTLED)
    assert club.held() == {"a": 0, "b": 8}
    await club.beats(5, "a")
    assert club.held()["a"] == 8


async def test_one_that_starts_without_a_way() -> None:
    """It takes no slot of a node that it does not hear and others do, not even for a moment."""
    club = Club("a", nodes=("pbx1",))
    await club.beats(SETTLED)
    club.join("b").misses = {"pbx1"}
    await club.beats(SETTLED)
    assert club["b"].diary.did("take") == []
    assert club.held() == {"a": 8, "b": 0}


def test_slots_are_given_within_a_lease() -> None:
    """What DEAF says above is what `Reach` needs at this rhythm, and less than a lease."""
    assert DEAF * RHYTHM.heartbeat_s < LeaseTimings().lease_s
