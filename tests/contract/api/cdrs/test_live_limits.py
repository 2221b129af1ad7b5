"""The limit of live calls holds for all processes together, on both databases."""

import asyncio

import pytest

from api.accounts.store import Account
from api.auth.principal import Principal, resolve
from api.common.errors import TooManyRequests
from api.db.database import DatabaseUnavailable
from api.voice import plugin as voice
from api.voice.limits import CallLimits
from api.voice.live_calls import COUNT_TTL_MS, PENDING_TTL_MS, LiveCalls
from api.voice.rate_limits import RateLimits
from api.voice.schemas import OriginateRequest
from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.rest import CUSTOMER, OURS, Rest
from tests.harness.rpc.scene import created

LIMITED = Account("acme", "acme", max_calls=1, destinations=None)


def process(kept: Rest, clock: ManualClock) -> CallLimits:
    """Return the limits of another process."""
    database = kept.services.database
    return CallLimits(kept.services.engine, RateLimits(database, clock), LiveCalls(database, clock))


async def is_full(limits: CallLimits) -> bool:
    """Admit a call that is never made; return whether it was rejected."""
    try:
        async with limits.admit(LIMITED):
            return False
    except TooManyRequests as error:
        return error.code == "live_calls"


async def test_several_processes_share_one_limit(kept: Rest) -> None:
    """Concurrent requests to several processes start no more calls than allowed.

    All at one moment: a count that is renewed between them may be too high.
    """
    await kept.services.accounts.change(Account("acme", "acme", max_calls=5, destinations=None))
    parts, clock = kept.services, ManualClock()
    several = [
        voice.build(
            parts.database,
            parts.engine,
            parts.accounts,
            parts.settings.limits,
            parts.cdrs.records.timeline,
            clock,
        )
        for _ in range(3)
    ]
    who, requested = (
        Principal("acme", "a-key", scopes=resolve(["integrator"])),
        OriginateRequest(from_=OURS, to=CUSTOMER),
    )
    actions = [each.originate(who, requested, None) for each in several for _ in range(4)]
    answers = await asyncio.gather(*actions, return_exceptions=True)
    refused = [each for each in answers if isinstance(each, BaseException)]
    assert (len(refused), {type(each) for each in refused}) == (7, {TooManyRequests})
    assert len(created(kept.scene)) == 5


async def test_a_pending_call_counts(kept: Rest) -> None:
    """A call counts until its request has ended; afterwards only the engine's count matters."""
    clock = ManualClock()
    ours, other = process(kept, clock), process(kept, clock)
    async with ours.admit(LIMITED):
        assert await is_full(other)
        clock.now += COUNT_TTL_MS
        assert await is_full(other)
    clock.now += COUNT_TTL_MS
    assert not await is_full(other)


async def test_reservations_of_dead_processes_expire(kept: Rest) -> None:
    """The reservation of a dead process expires after half a minute."""
    clock = ManualClock()
    limits, dead = process(kept, clock), LiveCalls(kept.services.database, clock)
    await dead.set_count("acme", 0)
    assert await dead.reserve("acme", 1)
    clock.now += COUNT_TTL_MS
    assert await is_full(limits)
    clock.now += PENDING_TTL_MS
    assert not await is_full(limits)


class Forgetful(LiveCalls):
    """Live calls whose database fails while an engine responds."""

    async def release(self, recorded: int) -> None:
        """Fail as if the database were unavailable."""
        raise DatabaseUnavailable(str(recorded))


async def test_a_database_failure_hides_no_response(kept: Rest) -> None:
    """A started call is returned, although its reservation stays for a while."""
    clock, database = ManualClock(), kept.services.database
    limits = CallLimits(
        kept.services.engine, RateLimits(database, clock), Forgetful(database, clock)
    )
    async with limits.admit(LIMITED):
        pass
    clock.now += COUNT_TTL_MS
    assert await is_full(limits)


async def test_a_rate_limited_call_leaves_no_reservation(kept: Rest) -> None:
    """A request that is rejected for another reason leaves no reservation."""
    clock = ManualClock()
    account = Account("acme", "acme", max_calls=9, max_calls_per_s=0.5, destinations=None)
    limits = process(kept, clock)
    async with limits.admit(account):
        pass
    with pytest.raises(TooManyRequests, match="a second"):
        async with limits.admit(account):
            pass
    assert await LiveCalls(kept.services.database, clock).pending("acme") == 0


async def test_each_account_has_its_own_count(kept: Rest) -> None:
    """The count of one account says nothing about another's."""
    clock = ManualClock()
    live = LiveCalls(kept.services.database, clock)
    await live.set_count("other", 1)
    assert (await live.is_current("other"), await live.is_current("acme")) == (True, False)
    assert await live.reserve("acme", 10) is None
    clock.now += COUNT_TTL_MS
    assert not await live.is_current("other")
