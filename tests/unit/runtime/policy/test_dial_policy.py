"""Parties are authorized by their account's dial policy, at once if it is cached."""

import asyncio
from collections.abc import Sequence

import msgspec
import pytest
from msgspec.structs import replace

from engine.app.factories import default_policy
from engine.calls.model.leg import EndedLeg, Leg
from engine.runtime.base.interfaces import DialDecision
from engine.runtime.policy.capacity_limits import CapacityLimiter, CapacityLimits, SingleEngine
from engine.runtime.policy.dial_policy import DialPolicy
from engine.runtime.policy.leg_counter import LegCounter
from engine.runtime.policy.leg_limits import LegLimits
from engine.store.errors import StoreDown
from tests.harness.calls.builders import ID, NOW, inbound, outbound
from tests.harness.memory_store.documents import MemoryDialPolicyStore
from tests.harness.runtime.shard_scene import ManualClock
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


class Scene:
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
def scene() -> Scene:
    """Return a scene with an empty store."""
    return Scene()


async def test_an_account_without_a_policy(scene: Scene) -> None:
    """It may call no number, and causes one read a second."""
    assert (await scene.authorize("+15550001")).rejection == "terms_unknown"
    scene.clock.pass_ms(999)
    assert (scene.now("+15550001").rejection, scene.store.reads) == ("terms_unknown", 1)


async def test_the_default_policy(scene: Scene) -> None:
    """It names what accounts without a policy may call."""
    default = AccountDialPolicy(destinations=("+47",))
    policy = DialPolicy(scene.store, scene.clock.now_ms, default=default)
    assert await policy.check("acme", LISTED) == ""
    assert await policy.check("acme", "+15550001") == "not_allowed"
    await scene.put(AccountDialPolicy(destinations=("+1",)))
    assert await policy.check("acme", "+15550001") == ""


@pytest.mark.parametrize("allowed", [(), ("+47",)])
async def test_the_default_country(scene: Scene, allowed: tuple[str, ...]) -> None:
    """It is that of numbers of accounts without a policy, whether they may call or not."""
    default = default_policy(allowed, "47")
    policy = DialPolicy(scene.store, scene.clock.now_ms, default=default, default_country="47")
    assert await policy.region("acme") == "NO"
    assert policy.known_region("acme") == "NO"
    assert await policy.check("acme", "21930000") == ("" if allowed else "terms_unknown")
    await scene.put(AccountDialPolicy(country="1"))
    assert await policy.region("acme") == "US"
    await scene.put(AccountDialPolicy(country="1", region="BB"))
    scene.clock.pass_ms(1_000)
    assert await policy.region("acme") == "BB"


async def test_policies_are_cached_for_a_second(scene: Scene) -> None:
    """Decisions are immediate within it, and by the stored policy after it."""
    await scene.put(NORWAY)
    assert await scene.authorize("+15550001") == DialDecision("not_allowed")
    scene.clock.pass_ms(999)
    assert [scene.now(each).rejection for each in ("+15550001", LISTED)] == ["not_allowed", ""]
    assert scene.store.reads == 1
    await scene.put(AccountDialPolicy())
    assert (await scene.authorize("+15550001")).rejection == ""


async def test_a_foreign_caller_id_is_replaced(scene: Scene) -> None:
    """The call is made with the account's own number."""
    await scene.put(NORWAY)
    assert await scene.authorize(LISTED, "+15550001") == DialDecision("", "+4721930000")


async def test_every_policy_allows_agents(scene: Scene) -> None:
    """They are the account's own: no prefix or list applies, and they see each caller id."""
    numbers = ("+4721930000",)
    await scene.put(AccountDialPolicy(destinations=(), do_not_call=True, numbers=numbers))
    shown = DialDecision("", "+15550001")
    assert await scene.authorize("agent:1001", "+15550001") == shown
    assert scene.now("agent:1001").rejection == ""
    assert (await scene.policy.check("acme", "agent:1001"), scene.store.reads) == ("", 1)


async def test_the_list_is_read_each_time(scene: Scene) -> None:
    """Only for accounts that have one, and only for parties that are allowed otherwise."""
    await scene.put(AccountDialPolicy(destinations=("+47",), do_not_call=True))
    await scene.store.change_list("acme", DncListChange(0, 1, add=(LISTED,)))
    assert (await scene.authorize(LISTED)).rejection == "do_not_call"
    await scene.store.change_list("acme", DncListChange(1, 2, remove=(LISTED,)))
    assert (await scene.authorize(LISTED)).rejection == ""
    assert scene.store.reads == 3
    assert (scene.now("+15550001").rejection, scene.store.reads) == ("not_allowed", 3)


@pytest.mark.parametrize(
    ("party", "listed"),
    [
        ("+370861234567", "+37061234567"),
        ("00370861234567", "+37061234567"),
        ("+3606201234567", "+36201234567"),
        ("+54111523456789", "+5491123456789"),
        ("+5501511961234567", "+5511961234567"),
        ("+789123456789", "+79123456789"),
        ("+112025550123", "+12025550123"),
        ("sip:+370861234567@example.com", "+37061234567"),
        ("*31*+370861234567", "+37061234567"),
        ("01511961234567", "+5511961234567"),
        ("44444444", "+5544444444"),
        ("+480601123456", "+48601123456"),
        ("+4800601123456", "+48601123456"),
        ("00480601123456", "+48601123456"),
        ("sip:+480601123456@example.com", "+48601123456"),
        ("*31*+480601123456", "+48601123456"),
        ("+048601123456", "+48601123456"),
        ("+0480601123456", "+48601123456"),
        ("*31*011480601123456", "+48601123456"),
        ("05511961234567", "+5511961234567"),
        ("+5215512345678", "+525512345678"),
    ],
)
async def test_a_listed_number_with_a_trunk_prefix(scene: Scene, party: str, listed: str) -> None:
    """A list has the number as it is called, also if a 0 is written that doesn't belong to it."""
    policy = AccountDialPolicy(do_not_call=True, country="55", number_types=("service_code",))
    await scene.put(policy)
    await scene.store.change_list("acme", DncListChange(0, 1, add=("+4790000001",)))
    assert (await scene.authorize(party)).party in {"", listed}
    await scene.store.change_list("acme", DncListChange(1, 2, add=(listed,)))
    assert (await scene.authorize(party)).rejection == "do_not_call"


@pytest.mark.parametrize("party", ["+480999123456", "0999123456", "00480999123456"])
async def test_digits_with_two_readings_are_not_dialled(scene: Scene, party: str) -> None:
    """A list may have either number: here also the one without a 0, which no plan has yet."""
    await scene.put(AccountDialPolicy(region="PL"))
    assert (await scene.authorize(party)).rejection == "number_without_country"


@pytest.mark.parametrize(
    ("party", "rejection"),
    [
        ("+49151234567891", "do_not_call"),
        ("0151234567891", "do_not_call"),
        ("sip:+49151234567891@example.com", "do_not_call"),
        ("+4915123456788", ""),
        ("+49151234567", ""),
    ],
)
async def test_digits_after_a_listed_number(scene: Scene, party: str, rejection: str) -> None:
    """Switches ignore them; Germany has numbers of many lengths, so they may be possible."""
    await scene.put(AccountDialPolicy(do_not_call=True, country="49"))
    await scene.store.change_list("acme", DncListChange(0, 1, add=("+4915123456789",)))
    assert await scene.policy.check("acme", party) == rejection


async def test_a_number_is_dialled_as_lists_store_it(scene: Scene) -> None:
    """The carrier gets no trunk prefix behind the country's code."""
    await scene.put(AccountDialPolicy(destinations=("+3706",)))
    for party in ("+370861234567", "00370861234567"):
        assert await scene.authorize(party) == DialDecision("", party="+37061234567")
    assert await scene.authorize("+37061234567") == DialDecision("")


async def test_an_incomplete_list(scene: Scene) -> None:
    """Until its list is complete, an account may not call by the trunk."""
    await scene.put(AccountDialPolicy(do_not_call=True))
    assert (await scene.authorize("+4791")).rejection == "terms_unknown"
    await scene.store.change_list("acme", DncListChange(0, 1, add=(LISTED,), is_whole=False))
    assert (await scene.authorize("+4791")).rejection == "terms_unknown"
    await scene.store.change_list("acme", DncListChange(1, 2))
    assert (await scene.authorize("+4791")).rejection == ""
    assert (await scene.authorize("sip:ada@example.com")).rejection == ""


async def test_while_the_store_is_down_cached_policies_apply(scene: Scene) -> None:
    """However old; without one no number is called."""
    await scene.put(NORWAY)
    await scene.authorize(LISTED)
    scene.store.down = True
    scene.clock.pass_ms(60_000)
    found = [(await scene.authorize(each)).rejection for each in ("+15550001", LISTED)]
    assert found == ["not_allowed", ""]
    assert await scene.policy.check("other", LISTED) == "terms_unknown"
    scene.store.down = False
    assert await scene.policy.check("acme", LISTED) == ""


async def test_the_list_while_the_store_is_down(scene: Scene) -> None:
    """It is unknown, while the cached policy says that there is one."""
    await scene.put(AccountDialPolicy(do_not_call=True))
    await scene.store.change_list("acme", DncListChange(0, 1))
    assert (await scene.authorize(LISTED)).rejection == ""
    scene.store.down = True
    assert (await scene.authorize(LISTED)).rejection == "terms_unknown"


async def test_policies_lost_by_the_store_still_apply(scene: Scene) -> None:
    """The last ones apply until they are stored again."""
    await scene.put(NORWAY)
    await scene.authorize(LISTED)
    scene.store.lose_all()
    scene.clock.pass_ms(60_000)
    assert (await scene.authorize("+15550001")).rejection == "not_allowed"


async def test_an_invalid_policy(scene: Scene) -> None:
    """No number is called: the policy is unknown."""
    await scene.store.put("acme", b"{")
    assert (await scene.authorize(LISTED)).rejection == "terms_unknown"


async def test_closing_cancels_reads(scene: Scene) -> None:
    """An engine that leaves decides nothing: recovery repeats the read."""
    decisions: list[DialDecision] = []
    scene.policy.authorize(outbound(), LISTED, "", decisions.append)
    await scene.policy.close()
    assert decisions == []


async def test_the_country_of_national_numbers(scene: Scene) -> None:
    """It is cached with the policy; while the store is down the last one applies."""
    assert scene.policy.known_region("acme") is None
    assert await scene.policy.region("acme") == ""
    await scene.put(AccountDialPolicy(country="47"))
    assert await scene.policy.region("acme") == "NO"
    assert scene.policy.known_region("acme") == "NO"
    scene.clock.pass_ms(1_000)
    scene.store.down = True
    assert await scene.policy.region("acme") == "NO"


@pytest.mark.parametrize(
    ("party", "rejection"),
    [("sip:ada@example.com", ""), ("sip:ada@elsewhere.com", "sip_host"), ("agent:1", "")],
)
async def test_the_host_of_an_address(scene: Scene, party: str, rejection: str) -> None:
    """It is one of the engine's settings, whatever the policy."""
    await scene.put(AccountDialPolicy())
    assert await scene.policy.check("acme", party) == rejection
    assert scene.now(party).rejection == rejection


async def test_a_stopped_account(scene: Scene) -> None:
    """It may not call anyone."""
    stopped = {"acme"}
    policy = DialPolicy(scene.store, scene.clock.now_ms, is_stopped=stopped.__contains__)
    await scene.put(AccountDialPolicy())
    decided: list[DialDecision] = []
    for _ in range(2):
        found = await policy.check("acme", "agent:1")
        policy.authorize(outbound(), "agent:1", "+4799", decided.append)
        assert (found, decided[-1].rejection) == (("account_stopped",) * 2 if stopped else ("", ""))
        stopped.clear()


@pytest.mark.parametrize(("dialled", "rejection"), [(2, ""), (3, "legs_per_call")])
@pytest.mark.parametrize("party", ["agent:1", "+4722222222"])
@pytest.mark.parametrize("is_cached", [False, True])
async def test_the_legs_of_a_call(
    scene: Scene, party: str, dialled: int, rejection: str, *, is_cached: bool
) -> None:
    """Those that have ended count, also those that are not kept; a caller's own leg does not."""
    await scene.put(AccountDialPolicy(max_legs_per_call=2))
    if is_cached:
        await scene.policy.region("acme")
    own = Leg(f"{ID}.l0", party, "requested", NOW)
    call = replace(
        inbound(),
        legs=(*inbound().legs, own),
        ended_legs_omitted=dialled - 1,
    )
    decision: asyncio.Future[DialDecision] = asyncio.get_running_loop().create_future()
    scene.policy.authorize(call, party, "", decision.set_result)
    assert decision.done() is is_cached
    assert (await decision).rejection == rejection


@pytest.mark.parametrize(("replacing", "rejection"), [(1, ""), (2, "legs_per_call")])
async def test_legs_in_the_place_of_others_count(
    scene: Scene, replacing: int, rejection: str
) -> None:
    """A phone can replace its leg again and again; each is a leg of the call."""
    await scene.put(AccountDialPolicy(max_legs_per_call=2))
    await scene.policy.region("acme")
    own, main = Leg(f"{ID}.l0", "agent:1", "requested", NOW), inbound().legs[0]
    past = [EndedLeg(replace(main, id="1.1"), NOW, "completed", 16)] * replacing
    call = replace(inbound(), legs=(replace(main, replaces="1.1"), own), ended_legs=tuple(past))
    decided: list[DialDecision] = []
    scene.policy.authorize(call, "agent:1", "", decided.append)
    assert decided[0].rejection == rejection


NUMBERLESS = AccountDialPolicy(numbers=())


@pytest.mark.parametrize(
    ("policy", "caller_id", "shown"),
    [
        (NORWAY, "+4721930000", "+4721930000"),
        (NORWAY, "004721930000", "+4721930000"),
        (NORWAY, "+12025550123", "+4721930000"),
        (NORWAY, "+4799", "+4721930000"),
        (NORWAY, "", ""),
        (NUMBERLESS, "+12025550123", "+4799"),
        (NUMBERLESS, "+4799", "+4799"),
        (AccountDialPolicy(), "+12025550123", "+12025550123"),
        (None, "+12025550123", "+12025550123"),
    ],
)
async def test_the_caller_id_of_an_agent(
    scene: Scene, policy: AccountDialPolicy | None, caller_id: str, shown: str
) -> None:
    """A number of the account, or the engine's default; one that it has lost is replaced."""
    if policy is not None:
        await scene.put(policy)
    await scene.policy.region("acme")  # which reads the policy
    assert scene.policy.agent_caller_id("acme", caller_id) == shown


@pytest.mark.parametrize("is_cached", [False, True])
async def test_a_number_is_decided_with_its_trunks(scene: Scene, *, is_cached: bool) -> None:
    """And in its international form, if it has another one."""
    await scene.put(AccountDialPolicy(country="47", trunks=("second", "first")))
    if is_cached:
        await scene.policy.region("acme")
    decided = DialDecision("", "", ("second", "first"), "+4721930000")
    assert await scene.authorize("21930000") == decided
    assert await scene.authorize("+4721930000") == replace(decided, party="")
    assert await scene.authorize("agent:1", "+4799") == DialDecision("", "+4799")
    await scene.put(AccountDialPolicy(trunks=("first",)))
    if is_cached:
        await scene.policy.region("acme")
    rejected = DialDecision("number_without_country", "", ("first",))
    assert await scene.authorize("21930000") == rejected


async def test_the_last_policy(scene: Scene) -> None:
    """A rejection is explained by it; before the first one by one without limits."""
    assert scene.policy.last("acme") == AccountDialPolicy()
    await scene.put(NORWAY)
    await scene.policy.region("acme")
    assert scene.policy.last("acme") == NORWAY
    scene.policy.update("acme", AccountDialPolicy(country="1", region="CA"))
    assert scene.policy.known_region("acme") == "CA"


@pytest.mark.parametrize("party", [LISTED, "agent:1"])
async def test_minutes_are_read_before_a_party_is_called(scene: Scene, party: str) -> None:
    """While they are known, it is called at once."""
    clock = scene.clock

    async def used(_account: str) -> int:
        return 0

    trunk = CapacityLimiter(clock, CapacityLimits(), lambda: 1.0, "trunk", "the trunk")
    limits = LegLimits(clock, LegCounter(), SingleEngine(), trunk, used)
    policy = DialPolicy(scene.store, clock.now_ms, limits=limits)
    await scene.put(AccountDialPolicy(max_minutes_per_day=1))
    await policy.region("acme")
    decided: list[DialDecision] = []
    policy.authorize(outbound(), party, "", decided.append)
    assert not decided
    assert await policy.check("acme", party) == ""
    policy.authorize(outbound(), party, "", decided.append)
    assert decided == [DialDecision("")]
    await policy.close()
