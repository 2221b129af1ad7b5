"""Parties are authorized by their account's dial policy, at once if it is cached."""

import asyncio
from collections.abc import Sequence

import msgspec
import pytest

from engine.runtime.base.interfaces import DialDecision
from engine.runtime.policy.dial_policy import DialPolicy
from engine.store.errors import StoreDown
from engine.store.memory.documents import MemoryDialPolicyStore
from tests.unit.calls.harness.builders import outbound
from tests.unit.runtime.harness.shard_bench import ManualClock
from wire.dial_policy import AccountDialPolicy, DncListChange

NORWAY = AccountDialPolicy(destinations=("+47",), numbers=("+4721930000",))
LISTED = "+4790000000"


class UnreliablePolicies(MemoryDialPolicyStore):
    """A memory store that counts reads and can be down."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0
        self.down = False

    async def get(self, account: str) -> bytes | None:
        self._count()
        return await super().get(account)

    async def is_listed(self, account: str, numbers: Sequence[str]) -> bool | None:
        self._count()
        return await super().is_listed(account, numbers)

    def lose_all(self) -> None:
        """Lose all data."""
        self._policies.clear()
        self._lists.clear()

    def _count(self) -> None:
        self.reads += 1
        if self.down:
            raise StoreDown("set by the test")


class Bench:
    """A dial policy over a store, with a clock moved by the test; the account is acme."""

    def __init__(self) -> None:
        self.store, self.clock = UnreliablePolicies(), ManualClock()
        self.policy = DialPolicy(self.store, self.clock.now_ms, "+4799", sip_hosts=("example.com",))

    async def put(self, policy: AccountDialPolicy) -> None:
        """Store a policy, which applies from now on."""
        await self.store.put("acme", msgspec.json.encode(policy))
        self.clock.pass_ms(1_000)

    async def authorize(self, party: str, caller_id: str = "") -> DialDecision:
        """Authorize a party of an outbound call."""
        decision: asyncio.Future[DialDecision] = asyncio.get_running_loop().create_future()
        self.policy.authorize(outbound(), party, caller_id, decision.set_result)
        return await decision

    def now(self, party: str) -> DialDecision:
        """Authorize a party without waiting."""
        found: list[DialDecision] = []
        self.policy.authorize(outbound(), party, "", found.append)
        return found[0]


@pytest.fixture
def bench() -> Bench:
    """Return a bench with an empty store."""
    return Bench()


async def test_an_account_without_a_policy(bench: Bench) -> None:
    """It may call no number, and causes one read a second."""
    assert (await bench.authorize("+15550001")).rejection == "terms_unknown"
    bench.clock.pass_ms(999)
    assert (bench.now("+15550001").rejection, bench.store.reads) == ("terms_unknown", 1)


async def test_the_default_policy(bench: Bench) -> None:
    """It names what accounts without a policy may call."""
    default = AccountDialPolicy(destinations=("+47",))
    policy = DialPolicy(bench.store, bench.clock.now_ms, default=default)
    assert await policy.check("acme", LISTED) == ""
    assert await policy.check("acme", "+15550001") == "not_allowed"
    await bench.put(AccountDialPolicy(destinations=("+1",)))
    assert await policy.check("acme", "+15550001") == ""


async def test_policies_are_cached_for_a_second(bench: Bench) -> None:
    """Decisions are immediate within it, and by the stored policy after it."""
    await bench.put(NORWAY)
    assert await bench.authorize("+15550001") == DialDecision("not_allowed")
    bench.clock.pass_ms(999)
    assert [bench.now(each).rejection for each in ("+15550001", LISTED)] == ["not_allowed", ""]
    assert bench.store.reads == 1
    await bench.put(AccountDialPolicy())
    assert (await bench.authorize("+15550001")).rejection == ""


async def test_a_foreign_caller_id_is_replaced(bench: Bench) -> None:
    """The call is made with the account's own number."""
    await bench.put(NORWAY)
    assert await bench.authorize(LISTED, "+15550001") == DialDecision("", "+4721930000")


async def test_every_policy_allows_agents(bench: Bench) -> None:
    """They are the account's own: no prefix or list applies, and they see each caller id."""
    numbers = ("+4721930000",)
    await bench.put(AccountDialPolicy(destinations=(), do_not_call=True, numbers=numbers))
    shown = DialDecision("", "+15550001")
    assert await bench.authorize("agent:1001", "+15550001") == shown
    assert bench.now("agent:1001").rejection == ""
    assert (await bench.policy.check("acme", "agent:1001"), bench.store.reads) == ("", 1)


async def test_the_list_is_read_each_time(bench: Bench) -> None:
    """Only for accounts that have one, and only for parties that are allowed otherwise."""
    await bench.put(AccountDialPolicy(destinations=("+47",), do_not_call=True))
    await bench.store.change_list("acme", DncListChange(0, 1, add=(LISTED,)))
    assert (await bench.authorize(LISTED)).rejection == "do_not_call"
    await bench.store.change_list("acme", DncListChange(1, 2, remove=(LISTED,)))
    assert (await bench.authorize(LISTED)).rejection == ""
    assert bench.store.reads == 3
    assert (bench.now("+15550001").rejection, bench.store.reads) == ("not_allowed", 3)


async def test_an_incomplete_list(bench: Bench) -> None:
    """Until its list is complete, an account may not call by the trunk."""
    await bench.put(AccountDialPolicy(do_not_call=True))
    assert (await bench.authorize("+4791")).rejection == "terms_unknown"
    await bench.store.change_list("acme", DncListChange(0, 1, add=(LISTED,), is_whole=False))
    assert (await bench.authorize("+4791")).rejection == "terms_unknown"
    await bench.store.change_list("acme", DncListChange(1, 2))
    assert (await bench.authorize("+4791")).rejection == ""
    assert (await bench.authorize("sip:ada@example.com")).rejection == ""


async def test_while_the_store_is_down_cached_policies_apply(bench: Bench) -> None:
    """However old; without one no number is called."""
    await bench.put(NORWAY)
    await bench.authorize(LISTED)
    bench.store.down = True
    bench.clock.pass_ms(60_000)
    found = [(await bench.authorize(each)).rejection for each in ("+15550001", LISTED)]
    assert found == ["not_allowed", ""]
    assert await bench.policy.check("other", LISTED) == "terms_unknown"
    bench.store.down = False
    assert await bench.policy.check("acme", LISTED) == ""


async def test_the_list_while_the_store_is_down(bench: Bench) -> None:
    """It is unknown, while the cached policy says that there is one."""
    await bench.put(AccountDialPolicy(do_not_call=True))
    await bench.store.change_list("acme", DncListChange(0, 1))
    assert (await bench.authorize(LISTED)).rejection == ""
    bench.store.down = True
    assert (await bench.authorize(LISTED)).rejection == "terms_unknown"


async def test_policies_lost_by_the_store_still_apply(bench: Bench) -> None:
    """The last ones apply until they are stored again."""
    await bench.put(NORWAY)
    await bench.authorize(LISTED)
    bench.store.lose_all()
    bench.clock.pass_ms(60_000)
    assert (await bench.authorize("+15550001")).rejection == "not_allowed"


async def test_an_invalid_policy(bench: Bench) -> None:
    """No number is called: the policy is unknown."""
    await bench.store.put("acme", b"{")
    assert (await bench.authorize(LISTED)).rejection == "terms_unknown"


async def test_closing_cancels_reads(bench: Bench) -> None:
    """An engine that leaves decides nothing: recovery repeats the read."""
    decisions: list[DialDecision] = []
    bench.policy.authorize(outbound(), LISTED, "", decisions.append)
    await bench.policy.close()
    assert decisions == []


async def test_the_country_of_national_numbers(bench: Bench) -> None:
    """It is cached with the policy; while the store is down the last one applies."""
    assert bench.policy.known_country("acme") is None
    assert await bench.policy.country("acme") == ""
    await bench.put(AccountDialPolicy(country="47"))
    assert await bench.policy.country("acme") == "47"
    assert bench.policy.known_country("acme") == "47"
    bench.clock.pass_ms(1_000)
    bench.store.down = True
    assert await bench.policy.country("acme") == "47"
