"""An engine that leaves: it gives all its slots back, and hands on who still asks it."""

import asyncio

import pytest

from tests.unit.runtime.harness.cluster_bench import SETTLED, Club

MAX_TURNS = 500  # of the loop, which are over long before the next beat


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
    await club["b"].keeper.run_once()
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
    assert club["b"].keeper.peer_urls == []


async def test_what_was_taken_is_told_at_once() -> None:
    """Who takes a slot beats again without waiting: others are asked about it meanwhile."""
    club = Club("a", "b")
    await club.beats(SETTLED)
    await club["a"].keeper.leave()
    running = asyncio.create_task(club["b"].keeper.run())
    try:
        for _ in range(MAX_TURNS):
            club["a"].keeper.wake()
            await club["a"].keeper.run_once()
            await asyncio.sleep(0)
            if club["a"].keeper.url_of(0) is not None:
                break
        else:
            pytest.fail("it waited for its next beat")
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
