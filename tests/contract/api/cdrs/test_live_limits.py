"""Calls at once are limited by all processes together, on databases of both kinds."""

import asyncio

import pytest

from api.accounts.store import Account
from api.auth.service import Principal
from api.common.errors import TooManyRequests
from api.db.database import DatabaseUnavailable
from api.voice import plugin as voice
from api.voice.limits import CallLimits
from api.voice.live_calls import COUNT_TTL_MS, PENDING_TTL_MS, LiveCalls
from api.voice.rate_limits import RateLimits
from api.voice.schemas import OriginateBody
from tests.contract.api.manual_clock import Hand
from tests.contract.api.rest import CUSTOMER, OURS, Rest
from tests.contract.rpc.harness.bench import created

LIMITED = Account("acme", "acme", max_calls=1)


def process(kept: Rest, clock: Hand) -> CallLimits:
    """Give what another process would limit by."""
    database = kept.parts.database
    return CallLimits(kept.parts.engine, RateLimits(database, clock), LiveCalls(database, clock))


async def is_full(limits: CallLimits) -> bool:
    """Ask for a call that is not made; tell whether there was no room."""
    try:
        async with limits.admit(LIMITED):
            return False
    except TooManyRequests as error:
        return error.code == "live_calls"


async def test_several_processes_let_in_no_more_than_one_would(kept: Rest) -> None:
    """Asked all at once, before any of them has seen what another let in."""
    await kept.parts.accounts.change(Account("acme", "acme", max_calls=5))
    parts = kept.parts
    several = [
        voice.build(
            parts.database, parts.engine, parts.accounts, parts.settings.limits, parts.now_ms
        )
        for _ in range(3)
    ]
    who, asked = Principal("acme", "a-key"), OriginateBody(from_=OURS, to=CUSTOMER)
    deeds = [each.originate(who, asked, None) for each in several for _ in range(4)]
    answers = await asyncio.gather(*deeds, return_exceptions=True)
    refused = [each for each in answers if isinstance(each, BaseException)]
    assert (len(refused), {type(each) for each in refused}) == (7, {TooManyRequests})
    assert len(created(kept.bench)) == 5


async def test_a_call_that_is_asked_for_counts(kept: Rest) -> None:
    """Until an engine has answered; engines are asked anew after a second, and show none."""
    clock = Hand()
    ours, other = process(kept, clock), process(kept, clock)
    async with ours.admit(LIMITED):
        assert await is_full(other)
        clock.now += COUNT_TTL_MS
        assert await is_full(other)
    clock.now += COUNT_TTL_MS
    assert not await is_full(other)


async def test_who_dies_while_it_asks_holds_no_place_for_ever(kept: Rest) -> None:
    """Its call is counted by what engines show, and its note for half a minute."""
    clock = Hand()
    limits, dead = process(kept, clock), LiveCalls(kept.parts.database, clock)
    await dead.set_count("acme", 0)
    assert await dead.reserve("acme", 1)
    clock.now += COUNT_TTL_MS
    assert await is_full(limits)
    clock.now += PENDING_TTL_MS
    assert not await is_full(limits)


class Forgetful(LiveCalls):
    """Its database goes away while an engine answers."""

    async def release(self, noted: int) -> None:
        """See Counts."""
        raise DatabaseUnavailable(str(noted))


async def test_a_database_that_goes_away_hides_no_answer(kept: Rest) -> None:
    """A call that was made is told as made, though its note stays for a while."""
    clock, database = Hand(), kept.parts.database
    limits = CallLimits(kept.parts.engine, RateLimits(database, clock), Forgetful(database, clock))
    async with limits.admit(LIMITED):
        pass
    clock.now += COUNT_TTL_MS
    assert await is_full(limits)


async def test_a_rate_that_is_met_leaves_no_note(kept: Rest) -> None:
    """Who is refused for another reason has no call asked for."""
    clock = Hand()
    account = Account("acme", "acme", max_calls=9, max_calls_per_s=0.5)
    limits = process(kept, clock)
    async with limits.admit(account):
        pass
    with pytest.raises(TooManyRequests, match="a second"):
        async with limits.admit(account):
            pass
    assert await LiveCalls(kept.parts.database, clock).pending("acme") == 0
