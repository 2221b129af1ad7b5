"""H3: limits of an account and of the trunk apply to every leg, whatever dials it."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from engine.calls.model.events import LegAnswered, LegCreated, LegEnded
from engine.runtime.base.interfaces import DialRejection
from engine.runtime.base.node_report import AccountUse
from engine.runtime.policy.capacity_limits import CapacityLimiter, CapacityLimits
from engine.runtime.policy.dial_policy import DialPolicy
from engine.runtime.policy.leg_counter import LegCounter
from engine.runtime.policy.leg_limits import MINUTE_MS, USED_TTL_MS, LegLimits
from engine.store.errors import StoreDown
from tests.harness.calls.builders import MAIN, bridged_call, outbound
from tests.harness.memory_store.documents import MemoryDialPolicyStore
from tests.harness.rpc.other_engines import OtherEngines
from tests.harness.rpc.scene import CALL, RpcScene, end, inject
from tests.harness.runtime.shard_scene import ManualClock
from tests.harness.until import until
from wire.dial_policy import AccountDialPolicy

CREATE = "POST channels/create"
NUMBERS = ["+4721930001", "+4721930002", "+4721930003"]
DIAL = {"type": "dial", "data": {"number": NUMBERS}}
AGENT = "agent:1001"
ONE_MINUTE = AccountDialPolicy(max_minutes_per_day=1)


async def limited(scene: RpcScene, **limits: Any) -> None:
    assert (await scene.request("PUT", "/terms/acme", limits))[0] == 200


async def dialled(scene: RpcScene, rejected: int) -> tuple[str, list[str]]:
    """Start a call that dials three numbers; return it, and the reasons of the rejected legs."""
    call = await scene.start_call(action=DIAL)
    found = scene.service.find(call)
    assert found is not None
    for event in (LegCreated(f"{call}.l0"), LegAnswered(f"{call}.l0")):
        inject(scene, event)

    def is_dialled() -> bool:
        scene.pbx.settle()
        is_rejected = len(found[1].call.ended_legs) == rejected
        return is_rejected and scene.pbx.lines.count(CREATE) == 1 + len(NUMBERS) - rejected

    await until(is_dialled, what="all legs")
    return call, [each.reason for each in found[1].call.ended_legs]


async def test_live_legs_of_a_tree(scene: RpcScene) -> None:
    """The customer's leg and one more are dialled; what ends makes room."""
    await limited(scene, maxLiveLegs=2)
    call, reasons = await dialled(scene, rejected=2)
    assert reasons == ["live_legs", "live_legs"]
    assert scene.pbx.lines.count(CREATE) == 2
    assert await scene.problem("POST", "/calls", CALL) == (429, "live_legs")
    for leg in ("l0", "l1"):  # the first of the numbers that were dialled
        inject(scene, LegEnded(f"{call}.{leg}", 16))
        scene.pbx.settle()
    assert not scene.service.node_selection.legs.on_trunk
    assert (await scene.request("POST", "/calls", CALL))[0] == 201
    rejected = dict(scene.telemetry.metrics.calls.parties_rejected)
    assert rejected == {("live_legs",): 2}


async def test_live_legs_at_other_engines(scene: RpcScene) -> None:
    """They count."""
    await limited(scene, maxLiveLegs=2)
    scene.cluster.account = AccountUse(legs=2)
    assert await scene.problem("POST", "/calls", CALL) == (429, "live_legs")


async def test_new_legs_a_second(scene: RpcScene) -> None:
    """One call with many legs has no higher rate than many calls."""
    await limited(scene, maxLegsPerS=2)
    assert (await dialled(scene, rejected=2))[1] == ["leg_rate", "leg_rate"]
    assert await scene.problem("POST", "/calls", CALL) == (429, "leg_rate")


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({"maxLiveLegs": 1}, "account acme exceeds 1 live leg (--max-live-legs)"),
        ({"maxLegsPerS": 1.0}, "account acme exceeds 1 new leg per second (--max-legs-per-s)"),
        ({"maxLegsPerS": 1.5}, "account acme exceeds 1.5 new legs per second (--max-legs-per-s)"),
    ],
)
async def test_a_rejection_names_the_limit(
    scene: RpcScene, limits: dict[str, float], text: str
) -> None:
    """With its value, and the option that sets it."""
    await limited(scene, **limits)
    await scene.start_call()
    assert (await scene.request("POST", "/calls", CALL))[1]["detail"] == text


async def test_minutes_of_ended_calls(scene: RpcScene) -> None:
    """They are in the store."""
    await limited(scene, maxMinutesPerDay=1)
    call = await scene.start_call()
    found = scene.service.find(call)
    assert found is not None
    for event in (LegCreated(f"{call}.l0"), LegAnswered(f"{call}.l0")):
        inject(scene, event)
    await asyncio.sleep(0.006)  # the call's length is the subject
    end(scene, call)
    scene.pbx.settle()

    async def is_used() -> bool:
        return await scene.store.used_ms("acme", scene.dependencies.shards.all) >= 5

    await until(is_used, what="its time in the store")
    scene.cluster.account = AccountUse(legs=1, used_ms=MINUTE_MS - 5)

    async def is_rejected() -> bool:
        status, body = await scene.request("POST", "/calls", CALL)
        return (status, body.get("code")) == (429, "daily_minutes")

    await until(is_rejected, every_s=0.5, what="the next read of the time")


class Limited:
    """The limits of an account, with a clock and a store that the test sets."""

    def __init__(self, policy: AccountDialPolicy, trunk: CapacityLimits | None = None) -> None:
        self.clock, self.legs, self.others = ManualClock(), LegCounter(), OtherEngines()
        self.used: int | None = 0
        limiter = CapacityLimiter(
            self.clock, trunk or CapacityLimits(), lambda: 1.0, "trunk", "the trunk"
        )
        self.limits = LegLimits(self.clock, self.legs, self.others, limiter, self._read)
        self.policy = DialPolicy(
            MemoryDialPolicyStore(), self.clock.now_ms, default=policy, limits=self.limits
        )

    async def _read(self, _account: str) -> int:
        if self.used is None:
            raise StoreDown("set by the test")
        return self.used

    async def dial(self, leg: str = "l1", party: str = "+4722222222") -> DialRejection:
        """Dial a leg of a call that has it already."""
        call = bridged_call("+4722222222").call
        call = replace(
            call, legs=tuple(replace(e, party=party) if e.id == leg else e for e in call.legs)
        )
        self.legs.update(call)
        await self.policy.check("acme", party)
        return self.policy.admit(call, leg, party)


@pytest.mark.parametrize(
    ("used_ms", "rejection"), [(MINUTE_MS - 1, ""), (MINUTE_MS, "daily_minutes")]
)
async def test_minutes_of_a_day(used_ms: int, rejection: DialRejection) -> None:
    """Also seconds count: many short calls are no way around it."""
    limited = Limited(ONE_MINUTE)
    limited.used = used_ms
    assert await limited.policy.check("acme", "+4722222222") == rejection


async def test_minutes_of_live_legs() -> None:
    """A call that does not end uses minutes, too; and those of other engines count."""
    limited = Limited(ONE_MINUTE)
    assert await limited.dial() == ""
    limited.clock.pass_ms(MINUTE_MS)
    assert await limited.dial() == "daily_minutes"


async def test_minutes_that_are_not_known() -> None:
    """Without them no leg is dialled; the last ones apply while the store is down."""
    limited = Limited(ONE_MINUTE)
    limited.used = None
    assert await limited.policy.check("acme", "+4722222222") == "terms_unknown"
    limited.used = 0
    assert await limited.policy.check("acme", "+4722222222") == ""
    limited.used = None
    limited.clock.pass_ms(USED_TTL_MS)
    assert await limited.policy.check("acme", "+4722222222") == ""


async def test_the_trunks_cap() -> None:
    """It is checked at every leg, but the first one of a call, which was admitted with it."""
    limited = Limited(AccountDialPolicy(), CapacityLimits(max_calls=1))
    assert await limited.dial("l1") == "trunk_full"
    assert await limited.dial(MAIN) == ""
    rate = Limited(AccountDialPolicy(), CapacityLimits(max_calls_per_s=1))
    assert [await rate.dial(), await rate.dial(), await rate.dial(MAIN)] == ["", "trunk_rate", ""]


async def test_legs_to_agents_count() -> None:
    """A webhook that rings an agent without end reaches the account's limits, too."""
    live = Limited(AccountDialPolicy(max_live_legs=1))
    assert await live.dial(party=AGENT) == "live_legs"
    rate = Limited(AccountDialPolicy(max_legs_per_s=1))
    assert [await rate.dial(party=AGENT), await rate.dial(party=AGENT)] == ["", "leg_rate"]
    assert await rate.policy.check("acme", AGENT) == "leg_rate"


async def test_agents_need_no_trunk_but_minutes() -> None:
    """A full trunk does not keep callers from agents; minutes that are used up do."""
    trunk = Limited(AccountDialPolicy(), CapacityLimits(max_calls=1, max_calls_per_s=1))
    assert await trunk.dial(party=AGENT) == ""
    limited = Limited(ONE_MINUTE)
    limited.used = MINUTE_MS
    assert await limited.dial(party=AGENT) == "daily_minutes"
    assert await limited.policy.check("acme", AGENT) == "daily_minutes"


async def test_a_clock_that_is_set_back() -> None:
    """An account does not wait until the clock has caught up."""
    limited = Limited(AccountDialPolicy(max_legs_per_s=1))
    assert [await limited.dial(), await limited.dial()] == ["", "leg_rate"]
    limited.clock.now -= 3_600_000
    assert await limited.dial() == "leg_rate"
    limited.clock.pass_ms(1_000)
    assert await limited.dial() == ""


def test_an_account_without_a_policy() -> None:
    """It dials nothing."""
    policy = Limited(AccountDialPolicy()).policy
    for party in ("+4722222222", AGENT):
        assert policy.admit(outbound(), "l1", party) == "terms_unknown"


async def test_a_rejected_leg_leaves_nothing(scene: RpcScene) -> None:
    """What was rejected is not counted as live, nor towards the rate."""
    await limited(scene, maxLiveLegs=1, maxLegsPerS=2)
    call, _ = await dialled(scene, rejected=3)
    inject(scene, LegEnded(f"{call}.l0", 16))
    scene.pbx.settle()
    assert scene.service.node_selection.legs.of("acme").dialled == 0
    assert (await scene.request("POST", "/calls", CALL))[0] == 201
