"""Parties are judged by their account's terms, at once where these are remembered."""

import asyncio
from collections.abc import Sequence

import msgspec
import pytest

from engine.runtime.base.ports import DialDecision
from engine.runtime.policy.dial_policy import DialPolicy
from engine.store.errors import StoreDown
from engine.store.memory.dial_policy import MemoryDialPolicyStore
from tests.unit.calls.harness.builders import outbound
from tests.unit.runtime.harness.shard_bench import ManualClock
from wire.dial_policy import AccountDialPolicy, DncListChange

NORWAY = AccountDialPolicy(destinations=("+47",), numbers=("+4721930000",))
LISTED = "+4790000000"


class MoodyTerms(MemoryDialPolicyStore):
    """Dial policies in memory, whose reads are counted, and which can be out of reach."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0
        self.down = False

    async def get(self, account: str) -> bytes | None:
        """Read, unless down."""
        self._count()
        return await super().get(account)

    async def is_listed(self, account: str, numbers: Sequence[str]) -> bool | None:
        """Read, unless down."""
        self._count()
        return await super().is_listed(account, numbers)

    def lose_all(self) -> None:
        """Be as a server that was emptied."""
        self._policies.clear()
        self._lists.clear()

    def _count(self) -> None:
        self.reads += 1
        if self.down:
            raise StoreDown("in a bad mood")


class Bench:
    """A book over a store, on a clock moved by hand; the account is acme."""

    def __init__(self) -> None:
        self.kept, self.clock = MoodyTerms(), ManualClock()
        self.book = DialPolicy(self.kept, self.clock.now_ms, "+4799")

    async def put(self, terms: AccountDialPolicy) -> None:
        """Store terms; the book sees them from now on."""
        await self.kept.put("acme", msgspec.json.encode(terms))
        self.clock.pass_ms(1_000)

    async def judge(self, party: str, caller_id: str = "") -> DialDecision:
        """Judge a party that an outbound call of acme is about to call."""
        verdict: asyncio.Future[DialDecision] = asyncio.get_running_loop().create_future()
        self.book.authorize(outbound(), party, caller_id, verdict.set_result)
        return await verdict

    def now(self, party: str) -> DialDecision:
        """Judge without waiting."""
        found: list[DialDecision] = []
        self.book.authorize(outbound(), party, "", found.append)
        return found[0]


@pytest.fixture
def bench() -> Bench:
    """Give an empty one."""
    return Bench()


async def test_an_account_without_terms_may_call_anybody(bench: Bench) -> None:
    """One read a second is all that it costs."""
    assert await bench.judge("+15550001", "+15550002") == DialDecision("", "+15550002")
    bench.clock.pass_ms(999)
    assert (bench.now("+15550001").rejection, bench.kept.reads) == ("", 1)


async def test_terms_are_remembered_for_a_second(bench: Bench) -> None:
    """Within it a party is judged at once; after it, by what is stored then."""
    await bench.put(NORWAY)
    assert await bench.judge("+15550001") == DialDecision("not_allowed")
    bench.clock.pass_ms(999)
    assert [bench.now(each).rejection for each in ("+15550001", LISTED)] == ["not_allowed", ""]
    assert bench.kept.reads == 1
    await bench.put(AccountDialPolicy())
    assert (await bench.judge("+15550001")).rejection == ""


async def test_a_strangers_number_is_replaced(bench: Bench) -> None:
    """A call is made all the same, showing the account's own."""
    await bench.put(NORWAY)
    assert await bench.judge(LISTED, "+15550001") == DialDecision("", "+4721930000")


async def test_agents_are_not_judged(bench: Bench) -> None:
    """They are the account's own; nothing is read for them."""
    await bench.put(AccountDialPolicy(destinations=(), do_not_call=True))
    assert bench.now("agent:1001").rejection == ""
    assert (await bench.book.check("acme", "agent:1001"), bench.kept.reads) == ("", 0)


async def test_the_list_is_asked_each_time(bench: Bench) -> None:
    """Only of accounts that have one, and only for who may be called otherwise."""
    await bench.put(AccountDialPolicy(destinations=("+47",), do_not_call=True))
    await bench.kept.change_list("acme", DncListChange(0, 1, add=(LISTED,)))
    assert (await bench.judge(LISTED)).rejection == "do_not_call"
    await bench.kept.change_list("acme", DncListChange(1, 2, remove=(LISTED,)))
    assert (await bench.judge(LISTED)).rejection == ""
    assert bench.kept.reads == 3
    assert (bench.now("+15550001").rejection, bench.kept.reads) == ("not_allowed", 3)


async def test_nobody_is_called_while_the_list_is_not_whole(bench: Bench) -> None:
    """An account that has a list may call nobody by the trunk until it is known."""
    await bench.put(AccountDialPolicy(do_not_call=True))
    assert (await bench.judge("+4791")).rejection == "terms_unknown"
    await bench.kept.change_list("acme", DncListChange(0, 1, add=(LISTED,), is_whole=False))
    assert (await bench.judge("+4791")).rejection == "terms_unknown"
    await bench.kept.change_list("acme", DncListChange(1, 2))
    assert (await bench.judge("+4791")).rejection == ""
    assert (await bench.judge("sip:ada@example.com")).rejection == ""


async def test_while_the_store_is_down_known_terms_hold(bench: Bench) -> None:
    """However old; where none were ever known, nobody is called."""
    await bench.put(NORWAY)
    await bench.judge(LISTED)
    bench.kept.down = True
    bench.clock.pass_ms(60_000)
    found = [(await bench.judge(each)).rejection for each in ("+15550001", LISTED)]
    assert found == ["not_allowed", ""]
    assert await bench.book.check("other", LISTED) == "terms_unknown"
    bench.kept.down = False
    assert await bench.book.check("other", LISTED) == ""


async def test_the_list_of_a_store_that_is_down_is_not_known(bench: Bench) -> None:
    """The terms are, so it is known that there is one."""
    await bench.put(AccountDialPolicy(do_not_call=True))
    await bench.kept.change_list("acme", DncListChange(0, 1))
    assert (await bench.judge(LISTED)).rejection == ""
    bench.kept.down = True
    assert (await bench.judge(LISTED)).rejection == "terms_unknown"


async def test_a_store_that_lost_everything_takes_no_terms_away(bench: Bench) -> None:
    """Those that were known hold until they are put again."""
    await bench.put(NORWAY)
    await bench.judge(LISTED)
    bench.kept.lose_all()
    bench.clock.pass_ms(60_000)
    assert (await bench.judge("+15550001")).rejection == "not_allowed"


async def test_what_is_no_terms_is_as_unknown(bench: Bench) -> None:
    """A document that can't be read is a fault of ours: nobody is called by guess."""
    await bench.kept.put("acme", b"{")
    assert (await bench.judge(LISTED)).rejection == "terms_unknown"


async def test_what_is_being_read_is_left(bench: Bench) -> None:
    """An engine that leaves concludes nothing: recovery asks again."""
    told: list[DialDecision] = []
    bench.book.authorize(outbound(), LISTED, "", told.append)
    await bench.book.close()
    assert told == []
