"""Who has which slot: shares, comings and goings, stores that fail, engines that sleep."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.runtime.keeping import RHYTHM, Club

SETTLED = 20


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
    await club["b"].keeper.beat()
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
        await club[name].keeper.beat()  # who takes a slot says so at once
    assert sorted(club.held().values()) == [2, 3, 3]
    moved = sum(len(member.diary.did("drop")) for member in club.members.values()) - before
    assert moved == 2
    assert all(member.keeper.is_settled for member in club.members.values())


async def test_its_own_word_wakes_it_without_giving_more() -> None:
    """A slot that is given back is told, also to who gave it, who waits with the next."""
    club = Club("a", "b")
    club["a"].peers.told({})
    await club["a"].keeper.beat()
    await club["b"].keeper.beat()
    for _ in range(3):
        await club["a"].keeper.beat()
    assert len(club["a"].diary.did("drop")) == 1


async def test_the_lease_of_a_slot_that_is_given_back_is_over() -> None:
    """What an answer from the PBX would lead to now is the next owner's to do."""
    club = Club("a")
    await club.beats()
    leases = list(club["a"].keeper.held.values())
    await club["a"].keeper.leave()
    assert not any(lease.holds for lease in leases)


async def test_an_engine_leaves() -> None:
    """It gives all back, stored, and the other has them with its next beat."""
    club = Club("a", "b")
    await club.beats(SETTLED)
    held = club["a"].held
    await club["a"].keeper.leave()
    assert set(club["a"].diary.did("drop")) >= held
    await club["b"].keeper.beat()
    assert club.held() == {"a": 0, "b": 8}


async def test_who_left_knows_the_next_owner() -> None:
    """Whoever still asks it is handed on; nobody waits for it to have a share."""
    club = Club("a", "b")
    await club.beats(SETTLED)
    held = club["a"].held
    await club["a"].keeper.leave()
    await club.beats(3)
    assert {club["a"].keeper.url_of(slot) for slot in held} == {"http://b"}
    assert club["a"].keeper.is_leaving
    assert club["a"].keeper.is_settled
    assert club["b"].keeper.others == []


async def test_what_was_taken_is_told_at_once() -> None:
    """Who takes a slot beats again without waiting: others are asked about it meanwhile."""
    club = Club("a", "b")
    await club.beats(SETTLED)
    await club["a"].keeper.leave()
    running = asyncio.create_task(club["b"].keeper.run())
    try:
        async with asyncio.timeout(RHYTHM.beat_s / 2):
            while club["a"].keeper.url_of(0) is None:
                club["a"].keeper.look()
                await club["a"].keeper.beat()
                await asyncio.sleep(0)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_who_left_takes_nothing_again() -> None:
    """A beat that comes late does not claim what was given back."""
    club = Club("a")
    await club.beats()
    await club["a"].keeper.leave()
    await club.beats()
    assert club.held() == {"a": 0}


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
    await club["a"].keeper.beat()
    assert set(club["a"].diary.did("drop")) >= lost
    assert "store" not in {line.split()[0] for line in club["a"].diary.lines}


async def test_a_doubt() -> None:
    """Something says that a slot may be another's: it stands still, is looked at, and goes on."""
    club = Club("a")
    await club.beats()
    club["a"].keeper.doubt(3)
    club["a"].keeper.doubt(3)
    assert club["a"].diary.did("pause") == [3]
    await club["a"].keeper.beat()
    assert club["a"].diary.did("go on") == [3]
    club["a"].keeper.doubt(99)
    assert club["a"].diary.did("pause") == [3]


async def test_a_frozen_clock() -> None:
    """Who slept past the lease holds nothing, before any timer has run; a late renewal cures it."""
    club = Club("a")
    await club.beats()
    club.hand.pass_s(60)
    assert club["a"].held == set()
    await club["a"].keeper.beat()
    assert len(club["a"].held) == 8
    assert sorted(club["a"].diary.did("go on")) == [*range(8)]


async def test_it_runs_and_is_woken() -> None:
    """The task beats by itself, and at once when another engine leaves."""
    club = Club("a", "b")
    await club.beats(SETTLED)
    running = asyncio.create_task(club["b"].keeper.run())
    await asyncio.sleep(0)
    try:
        await club["a"].keeper.leave()
        async with asyncio.timeout(5):
            while len(club["b"].held) < 8:  # noqa: ASYNC110 - the keeper tells nobody
                await asyncio.sleep(0)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("beat"), st.sampled_from("abc")),
        st.tuples(st.just("pass"), st.sampled_from((0.1, 0.5, 1.0, 1.9, 2.5))),
        st.tuples(st.just("leave"), st.sampled_from("abc")),
        st.tuples(st.just("store"), st.booleans()),
    ),
    max_size=60,
)


@given(STEPS)
@settings(deadline=None)
async def test_no_slot_has_two_owners(steps: list[tuple[str, object]]) -> None:
    """In whatever order engines beat, sleep and leave, and the store comes and goes."""
    club = Club("a", "b", "c", slots=5)
    for deed, about in steps:
        match deed, about:
            case "beat", str(name):
                await club[name].keeper.beat()
            case "pass", float(passing_s):
                club.hand.pass_s(passing_s)
            case "leave", str(name) if not club.store.is_down:
                await club[name].keeper.leave()
            case "store", bool(is_down):
                club.store.is_down = is_down
        held = [slot for member in club.members.values() for slot in member.held]
        assert len(held) == len(set(held))


def test_a_lease_ends_before_the_stores() -> None:
    """It counts as over while nobody else can have the slot yet, and is renewed many times."""
    assert RHYTHM.ours_s < RHYTHM.lease_ms / 1000
    assert 3 * RHYTHM.beat_s < RHYTHM.ours_s
