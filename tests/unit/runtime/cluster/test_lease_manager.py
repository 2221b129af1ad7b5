"""Who has which slot: shares, engines that come, die or sleep, and stores that fail."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.runtime.harness.cluster_bench import RHYTHM, SETTLED, Club


@pytest.mark.parametrize("slots", [1, 7, 8])
@pytest.mark.parametrize("engines", [1, 2, 3])
async def test_shares_are_equal(engines: int, slots: int) -> None:
    """However many engines and slots, shares differ by one at most, and no slot is nobody's."""
    club = Club(*(f"e{number}" for number in range(engines)), slots=slots)
    await club.beats(SETTLED)
    counts = club.held().values()
    assert sum(counts) == slots
    assert max(counts) - min(counts) <= 1
    assert all(member.keeper.is_settled for member in club.members.values())


async def test_who_has_no_share_yet_is_not_settled() -> None:
    """Slots of an engine whose last beat still counts are not for another to answer for."""
    club = Club("a")
    await club.beats()
    club.join("b")
    await club["b"].keeper.run_once()
    assert not club["b"].keeper.is_settled


async def test_an_engine_joins() -> None:
    """It gets its share, one slot a beat, those with the fewest calls; the others go on."""
    club = Club("a")
    await club.beats()
    club["a"].diary.live = dict.fromkeys(range(5), 9)
    club.join("b")
    for given_back in (0, 1, 2, 3, 4):
        await club.beats()
        assert len(club["a"].diary.did("drop")) == given_back
    await club.beats(3)
    assert club.held() == {"a": 4, "b": 4}
    assert set(club["a"].diary.did("drop")) >= {5, 6, 7}
    assert club["a"].diary.did("settle") == club["a"].diary.did("drop")
    assert len(club["a"].diary.did("take")) == 8


@pytest.mark.parametrize("name", ["0", "z"])
async def test_no_slot_changes_hands_for_nothing(name: str) -> None:
    """Whoever joins gets what makes the shares equal, but for one; whose that one is, is open."""
    club = Club("a", "b")
    await club.beats(SETTLED)
    before = sum(len(member.diary.did("drop")) for member in club.members.values())
    club.join(name)
    for _ in range(SETTLED):
        await club.beats()
        await club[name].keeper.run_once()  # who takes a slot says so at once
    assert sorted(club.held().values()) == [2, 3, 3]
    moved = sum(len(member.diary.did("drop")) for member in club.members.values()) - before
    assert moved == 2
    assert all(member.keeper.is_settled for member in club.members.values())


async def test_its_own_word_wakes_it_without_giving_more() -> None:
    """A slot that is given back is told, also to who gave it, who waits with the next."""
    club = Club("a", "b")
    club["a"].peers.update({})
    await club["a"].keeper.run_once()
    await club["b"].keeper.run_once()
    for _ in range(3):
        await club["a"].keeper.run_once()
    assert len(club["a"].diary.did("drop")) == 1


async def test_an_engine_dies() -> None:
    """Its slots stay its own while its lease runs, and are the other's with the next beat."""
    club = Club("a", "b")
    await club.beats(SETTLED)
    await club.beats(3, "b")
    assert club.held()["b"] == 4
    await club.beats(2, "b")
    assert club.held()["b"] == 8


async def test_a_renewal_that_is_refused() -> None:
    """A slot that is another's by now is dropped, at once."""
    club = Club("a", "b")
    await club.beats(SETTLED)
    lost = club["a"].held
    await club.beats(6, "b")
    await club["a"].keeper.run_once()
    assert set(club["a"].diary.did("drop")) >= lost
    assert "store" not in {line.split()[0] for line in club["a"].diary.lines}


async def test_a_doubt() -> None:
    """Something says that a slot may be another's: it stands still, is looked at, and goes on."""
    club = Club("a")
    await club.beats()
    club["a"].keeper.suspect(3)
    club["a"].keeper.suspect(3)
    assert club["a"].diary.did("pause") == [3]
    await club["a"].keeper.run_once()
    assert club["a"].diary.did("go on") == [3]
    club["a"].keeper.suspect(99)
    assert club["a"].diary.did("pause") == [3]


async def test_a_frozen_clock() -> None:
    """Who slept past the lease holds nothing, before any timer has run; a late renewal cures it."""
    club = Club("a")
    await club.beats()
    club.hand.pass_s(60)
    assert club["a"].held == set()
    await club["a"].keeper.run_once()
    assert len(club["a"].held) == 8
    assert sorted(club["a"].diary.did("go on")) == [*range(8)]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("beat"), st.sampled_from("abc")),
        st.tuples(st.just("pass"), st.sampled_from((0.1, 0.5, 1.0, 1.9, 2.5))),
        st.tuples(st.just("leave"), st.sampled_from("abc")),
        st.tuples(st.just("store"), st.booleans()),
        st.tuples(st.just("failover"), st.none()),
    ),
    max_size=60,
)


@given(STEPS)
@settings(deadline=None)
async def test_no_slot_has_two_owners(steps: list[tuple[str, object]]) -> None:
    """In whatever order engines beat, sleep and leave, and the store comes and goes."""
    club = Club("a", "b", "c", slots=5)
    for member in club.members.values():
        await member.keeper.run_once()  # on a first connection nobody is waited for (decision 0030)
    for deed, about in steps:
        match deed, about:
            case "beat", str(name):
                await club[name].keeper.run_once()
            case "pass", float(passing_s):
                club.hand.pass_s(passing_s)
            case "leave", str(name) if not club.store.is_down:
                await club[name].keeper.leave()
            case "store", bool(is_down):
                club.store.is_down = is_down
            case "failover", None:
                club.store.fail_over()
        held = [slot for member in club.members.values() for slot in member.held]
        assert len(held) == len(set(held))


def test_a_lease_ends_before_the_stores() -> None:
    """It counts as over while nobody else can have the slot yet, and is renewed many times."""
    assert RHYTHM.valid_s < RHYTHM.lease_ms / 1000
    assert 3 * RHYTHM.heartbeat_s < RHYTHM.valid_s
