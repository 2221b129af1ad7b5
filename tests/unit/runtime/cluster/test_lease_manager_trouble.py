"""Slots while the store is away, and after it has lost what it knew."""

import pytest

from tests.unit.runtime.harness.cluster_bench import Club

SETTLED = 20


async def test_the_store_is_away() -> None:
    """Slots stand still when their leases run out, and go on when the store is back."""
    club = Club("a")
    await club.beats()
    club.store.is_down = True
    await club.beats(3)
    assert club["a"].diary.did("pause") == []
    await club.beats(2)
    assert sorted(club["a"].diary.did("pause")) == [*range(8)]
    club.store.is_down = False
    await club.beats()
    assert sorted(club["a"].diary.did("go on")) == [*range(8)]
    assert club["a"].diary.did("drop") == []


async def test_after_the_store_was_away_nobody_robs_the_other() -> None:
    """Who is back first leaves the others the time to renew what is theirs."""
    club = Club("a", "b")
    await club.beats(SETTLED)
    before = club["b"].held
    club.store.is_down = True
    await club.beats(10)
    club.store.is_down = False
    await club.beats(5)
    assert club["b"].held == before
    assert club.held() == {"a": 4, "b": 4}


async def test_the_store_lost_everything() -> None:
    """Each engine stores its own again, under a new token, and takes nothing of the other's."""
    club = Club("a", "b")
    await club.beats(SETTLED)
    before = {name: member.held for name, member in club.members.items()}
    tokens = {slot: lease.token for slot, lease in club["a"].diary.leases.items()}
    club.store.lose_all()
    await club.beats(10)
    assert {name: member.held for name, member in club.members.items()} == before
    assert set(club["a"].diary.did("store")) == before["a"]
    assert all(club["a"].diary.leases[slot].token > token for slot, token in tokens.items())


async def test_a_slot_that_is_stored_again_has_one_lease() -> None:
    """Its calls go on at new desks: what the old ones still want is not done beside them."""
    club = Club("a")
    await club.beats()
    before = dict(club["a"].keeper.held)
    club.store.lose_all()
    await club.beats(3)
    after = club["a"].keeper.held
    assert [lease.holds for lease in before.values()] == [False] * 8
    assert [after[slot].holds for slot in before] == [True] * 8


async def test_a_claim_without_an_answer_does_not_forget_those_before_it() -> None:
    """What was claimed is gone on with at once: it is held, so nobody else would."""
    club = Club("a")
    club.store.unanswered = frozenset({5})
    await club.beats()
    assert sorted(club["a"].diary.did("take")) == sorted(club["a"].keeper.held) == [0, 1, 2, 3, 4]
    club.store.unanswered = frozenset()
    await club.beats(4)
    assert sorted(club["a"].diary.did("take")) == [*range(8)]


async def test_a_claim_after_a_loss_without_an_answer() -> None:
    """The store has the slot as ours, by a token that we don't know: its calls are stored again."""
    club = Club("a")
    await club.beats()
    club.store.lose_all()
    club.store.unanswered = frozenset(range(8))
    await club.beats()
    club.store.unanswered = frozenset()
    await club.beats(3)
    assert club["a"].diary.did("drop") == []
    assert sorted(club["a"].diary.did("store")) == [*range(8)]


async def test_what_was_lost_with_its_owner_is_taken_in_the_end() -> None:
    """The store lost a slot whose engine is dead too: after a lease's time it is claimed."""
    club = Club("a", "b")
    await club.beats(SETTLED)
    club.store.lose_all()
    await club.beats(SETTLED, "a")
    assert club.held()["a"] == 8


async def test_a_slot_that_cant_be_read_is_given_up() -> None:
    """The store fails while calls are read: the slot is nobody's desk, and is tried again."""
    club = Club("a")
    club["a"].diary.cannot_take = range(8)
    await club.beats()
    assert club["a"].diary.did("drop") != []
    club["a"].diary.cannot_take = ()
    await club.beats(4)
    assert club.held() == {"a": 8}


async def test_a_slot_that_cant_be_read_takes_no_other_along() -> None:
    """A beat ends when all that it began has ended: the next finds every slot as it is."""
    club = Club("a")
    club["a"].diary.cannot_take = [0]
    await club.beats()
    assert sorted(club["a"].diary.did("take")) == [*range(1, 8)]
    assert sorted(club["a"].keeper.held) == [*range(1, 8)]


async def test_what_a_failover_has_lost_is_written_again() -> None:
    """The slot is still this engine's: its calls go on, and others are waited for."""
    club = Club("a")
    await club.beats()
    club["a"].diary.numbers[3] = 5  # which the store has never heard of
    await club.beats(3)
    assert club["a"].diary.did("write again") == [3]
    assert club.held() == {"a": 8}
    assert club["a"].diary.did("pause") == []


async def test_a_failover_that_forgot_a_renewal() -> None:
    """Who is cut off still holds what the store takes for free: nobody claims it for so long."""
    club = Club("a", "b")
    await club.beats(SETTLED)
    before = club["a"].held
    club.store.fail_over()
    for _ in range(3):
        await club.beats(1, "b")
        assert (club["a"].held, len(club["b"].held)) == (before, 4)
    await club.beats(2, "b")
    assert club.held() == {"a": 0, "b": 8}


async def test_a_slot_on_offer_when_the_store_fails_over() -> None:
    """It is not taken back at once: somebody may have it, and the store have forgotten that."""
    club = Club("a")
    await club.beats()
    club.join("b")
    await club["b"].keeper.run_once()
    await club.beats(1, "a")
    [offered] = club["a"].diary.did("drop")
    await club["b"].keeper.run_once()
    assert offered in club["b"].held
    club.store.fail_over()
    await club.beats(2, "a")
    assert offered in club["b"].held
    assert offered not in club["a"].held


async def test_nothing_is_offered_that_nobody_would_take() -> None:
    """On new connections nobody claims: so long an engine keeps what it has too much."""
    club = Club("a")
    await club.beats()
    club.join("b")
    await club["b"].keeper.run_once()
    club.store.connections += 1
    await club.beats(4)
    assert club.held() == {"a": 8, "b": 0}
    await club.beats(SETTLED)
    assert club.held() == {"a": 4, "b": 4}


async def test_a_connection_that_breaks_again_and_again() -> None:
    """Slots of who died are somebody's in the end, and shares are shared."""
    club = Club("a", "b")
    await club.beats(SETTLED)
    for _ in range(14):
        club.store.connections += 1
        await club.beats(1, "a")
    assert club.held()["a"] == 8
    club.join("c")
    for _ in range(SETTLED):
        club.store.connections += 1
        await club.beats(1, "a", "c")
    assert club.held() == {"a": 4, "b": 0, "c": 4}


@pytest.mark.parametrize("by_s", [-500.0, 3.0, 3_600.0])
@pytest.mark.parametrize("first", ["a", "b", "c"])
async def test_a_clock_that_is_set(by_s: float, first: str) -> None:
    """By it all leases are over; who lacks a slot takes none that somebody who lives has."""
    club = Club("b", "c", slots=2)
    await club.beats(SETTLED)
    before = club.held()
    club.join("a")
    club["b"].diary.live = club["c"].diary.live = dict.fromkeys(range(2), 9)
    await club["a"].keeper.run_once()
    club.hand.set_store(by_s)
    await club[first].keeper.run_once()
    await club["a"].keeper.run_once()
    assert club.held() == before | {"a": 0}
    await club.beats(SETTLED)
    assert sorted(club.held().values()) == [0, 1, 1]


async def test_an_engine_that_dies_as_it_comes() -> None:
    """One slot at most is given back for it, and is taken up again a beat later."""
    club = Club("a")
    await club.beats()
    club.join("b")
    await club["b"].keeper.run_once()  # and never again
    free = []
    for _ in range(6):
        await club.beats(1, "a")
        free.append(8 - club.held()["a"])
    assert free == [1, 0, 0, 0, 0, 0]
    assert len(club["a"].diary.did("drop")) == 1


async def test_an_engine_that_takes_its_time() -> None:
    """It misses a slot that it was offered, and has its share all the same."""
    club = Club("a")
    await club.beats()
    club.join("b")
    await club["b"].keeper.run_once()
    await club.beats(2, "a")
    await club.beats(12)
    assert club.held() == {"a": 4, "b": 4}
