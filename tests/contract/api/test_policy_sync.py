"""Dial policies reach the engines' store after any loss, from several processes."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
import pytest
from sqlalchemy import delete
from structlog.testing import capture_logs

from api.accounts.store import Account, AccountStore
from api.common.errors import Conflict, InvalidRequest, NotFound
from api.dnc import store as dnc
from api.dnc.store import DncStore
from api.engine_client import EngineClient
from api.jobs.housekeeping import background
from api.policy_sync.sync import PolicySync
from tests.harness.api.rest import CUSTOMER, OTHERS, OURS, Rest
from tests.harness.until import until
from wire.dial_policy import POLICY_TTL_MS

MANY = [f"+479{number:07}" for number in range(12_001)]


def lists(rest: Rest) -> DncStore:
    """Return the store of do-not-call lists."""
    return DncStore(rest.services.database, rest.services.now_ms)


async def listed(rest: Rest, *numbers: str) -> bool | None:
    """Return whether any of the numbers is on acme's list at the engine."""
    return await rest.scene.store.dial_policies.is_listed("acme", numbers)


async def terms(rest: Rest, account: str = "acme") -> dict[str, Any]:
    """Return the dial policy that the engine has of an account."""
    status, found = await rest.scene.request("GET", f"/terms/{account}")
    assert status == 200
    return dict(found)


async def test_accounts_and_numbers_make_dial_policies(kept: Rest) -> None:
    """Changes of prefixes, caller ids and country are sent; a disabled account cannot call."""
    await kept.services.policy_sync.sync_all()
    found = await terms(kept)
    assert (found["numbers"], found["country"]) == ([OURS], "47")
    assert (await terms(kept, "other"))["numbers"] == [OTHERS]
    account = await kept.services.accounts.get("acme")
    changed = msgspec.structs.replace(account, destinations=("+47",))
    await kept.services.accounts.change(changed)
    await kept.services.accounts.add_number("acme", "+4721930009")
    await kept.services.policy_sync.sync_all()
    after = await terms(kept)
    assert (after["destinations"], after["numbers"]) == (["+47"], [OURS, "+4721930009"])
    assert after["version"] != found["version"]
    await kept.services.accounts.set_active("acme", False)
    await kept.services.policy_sync.sync_all()
    assert (await terms(kept))["destinations"] == []


class Recorder(EngineClient):
    """An engine's client that records requests, and rejects changes of lists if told so."""

    def __init__(self, client: EngineClient, *, rejects_lists: bool = False) -> None:
        super().__init__(client.http, ())
        self.sent: list[str] = []
        self._client = client
        self._rejects_lists = rejects_lists

    async def request_raw(self, method: str, path: str, *more: Any) -> bytes:
        """Send a request."""
        self.sent.append(f"{method} {path}")
        if self._rejects_lists and path.endswith("/dnc"):
            raise Conflict("the list is not accepted")
        return await self._client.request_raw(method, path, *more)


@pytest.mark.parametrize("rejects_lists", [False, True])
async def test_a_stop_waits_for_no_list(kept: Rest, *, rejects_lists: bool) -> None:
    """Neither for the account's own, nor for another's; also if an engine rejects lists."""
    for account in ("acme", "other"):
        await lists(kept).put(account, MANY, "p")
    other = await kept.services.accounts.get("other")
    await kept.services.accounts.change(msgspec.structs.replace(other, trunks=("unknown",)))
    await kept.services.accounts.set_active("other", False)
    engine = Recorder(kept.services.engine, rejects_lists=rejects_lists)
    await PolicySync(engine, kept.services.accounts, lists(kept)).sync_all()
    assert engine.sent[:2] == ["GET /terms", "PUT /terms/other"]
    assert (await terms(kept, "other"))["isStopped"] is True
    assert engine.sent.count("PUT /terms/other") == 1
    assert ("PUT /terms/acme" in engine.sent) is not rejects_lists


async def test_a_notified_stop_waits_for_no_list(kept: Rest) -> None:
    """The synchronization of one account sends the policy first, too."""
    await lists(kept).put("acme", MANY, "p")
    await kept.services.accounts.set_active("acme", False)
    engine = Recorder(kept.services.engine)
    await PolicySync(engine, kept.services.accounts, lists(kept)).sync_account("acme")
    assert engine.sent[0] == "PUT /terms/acme"
    assert len(engine.sent) > 2


async def test_a_stop_during_a_comparison_is_not_undone(kept: Rest) -> None:
    """The account that is sent is read again, as it may have been stopped meanwhile."""
    await lists(kept).put("acme", [CUSTOMER], "p")

    class Slow(Recorder):
        async def request_raw(self, method: str, path: str, *more: Any) -> bytes:
            if path == "/terms/acme/dnc":
                await kept.services.accounts.set_active("acme", False)
            return await super().request_raw(method, path, *more)

    await PolicySync(Slow(kept.services.engine), kept.services.accounts, lists(kept)).sync_all()
    assert (await terms(kept))["isStopped"] is True


async def test_limits_of_an_account_are_sent(kept: Rest) -> None:
    """They are part of the policy; before they are set, it has none."""
    await kept.services.policy_sync.sync_all()
    legs = ("maxLiveLegs", "maxLegsPerS", "maxMinutesPerDay", "maxLegsPerCall")
    names = (*legs, "maxCalls", "maxCallsPerS", "recognizers")
    before = await terms(kept)
    assert [before.get(name) for name in names] == [None] * len(names)
    account = msgspec.structs.replace(
        await kept.services.accounts.get("acme"),
        max_live_legs=6,
        max_legs_per_s=0.5,
        max_minutes_per_day=30,
        max_legs_per_call=2,
        max_calls=7,
        max_calls_per_s=1.5,
        recognizers=("whisper",),
        trunks=("trunk",),
        denied=("+4782",),
        number_types=("premium",),
    )
    await kept.services.accounts.change(account)
    await kept.services.policy_sync.sync_all()
    found = await terms(kept)
    assert [found[name] for name in names] == [6, 0.5, 30, 2, 7, 1.5, ["whisper"]]
    assert found["trunks"] == ["trunk"]
    assert (found["denied"], found["numberTypes"]) == (["+4782"], ["premium"])


async def change(rest: Rest, **values: Any) -> None:
    """Change acme in the database."""
    account = await rest.services.accounts.get("acme")
    await rest.services.accounts.change(msgspec.structs.replace(account, **values))


def refused(rest: Rest) -> float:
    """Return the metric of accounts whose policy engines refuse."""
    (family,) = rest.services.metrics.dial_policies_refused.collect()
    return family.samples[0].value


@pytest.mark.parametrize(
    "value",
    [
        {"trunks": ("renamed",)},
        {"denied": tuple(f"+47{number:04}" for number in range(1_001))},
        {"region": "no"},
    ],
)
async def test_a_refused_policy_allows_nothing(kept: Rest, value: dict[str, Any]) -> None:
    """Engines check its list and limits; the corrected policy is sent whole."""
    sync = kept.services.policy_sync
    await sync.sync_all()
    before = await kept.services.accounts.get("acme")
    assert (await terms(kept)).get("destinations") is None
    await change(kept, max_live_legs=5, **value)
    await lists(kept).put("acme", [CUSTOMER], "p")
    with capture_logs() as logged:
        for _ in range(3):
            await sync.sync_all()
    found = await terms(kept)
    assert (found["destinations"], found["doNotCall"], found["maxLiveLegs"]) == ([], True, 5)
    assert found["numbers"] == [OURS]
    assert (sync.list_version("acme") > 0, refused(kept)) == (True, 1)
    assert [each["event"] for each in logged if each["log_level"] == "warning"] == [
        "dial policy refused"
    ]
    await kept.services.accounts.change(before)
    await sync.sync_all()
    found = await terms(kept)
    assert (found.get("destinations"), found["doNotCall"], found["region"]) == (None, True, "NO")
    assert refused(kept) == 0


async def test_an_unknown_trunk_is_left_out_beside_others(kept: Rest) -> None:
    """What else the policy says applies; it is offered again each time, and stored once."""
    await change(kept, trunks=("renamed", "trunk", "third"), denied=("+4782",))
    engine = Recorder(kept.services.engine)
    sync = PolicySync(engine, kept.services.accounts, lists(kept))
    await sync.sync_all()
    found = await terms(kept)
    assert (found["trunks"], found["denied"], found["region"]) == (["trunk"], ["+4782"], "NO")
    assert sync.count_refused() == 1
    assert engine.sent.count("PUT /terms/acme") == 3
    await sync.sync_all()
    assert engine.sent.count("PUT /terms/acme") == 5


async def test_a_list_without_its_policy_is_not_in_force(kept: Rest) -> None:
    """Engines that refuse every policy have the list, and do not check it."""

    class Refusing(Recorder):
        async def request_raw(self, method: str, path: str, *more: Any) -> bytes:
            if method == "PUT":
                raise InvalidRequest("not understood")
            return await super().request_raw(method, path, *more)

    await lists(kept).put("acme", [CUSTOMER], "p")
    sync = PolicySync(Refusing(kept.services.engine), kept.services.accounts, lists(kept))
    await sync.sync_all()
    assert await listed(kept, CUSTOMER)
    assert (sync.list_version("acme"), await sync.count_waiting()) == (0, 1)
    assert sync.count_refused() > 0
    await kept.services.policy_sync.sync_all()
    assert kept.services.policy_sync.list_version("acme") > 0


async def test_a_stop_while_a_policy_is_refused(kept: Rest) -> None:
    """What is left of the policy is that of the stopped account."""
    await change(kept, trunks=("renamed",))

    class Slow(Recorder):
        async def request_raw(self, method: str, path: str, *more: Any) -> bytes:
            if path == "/terms/acme" and self.sent.count("PUT /terms/acme") == 0:
                await kept.services.accounts.set_active("acme", False)
            return await super().request_raw(method, path, *more)

    await PolicySync(Slow(kept.services.engine), kept.services.accounts, lists(kept)).sync_all()
    assert (await terms(kept))["isStopped"] is True


async def test_a_number_without_a_country_is_first(kept: Rest) -> None:
    """The account's numbers are of the country of the next one."""
    await kept.services.accounts.add(Account("free", "Free"))
    await kept.services.accounts.add_number("free", "+80012345678")
    await kept.services.policy_sync.sync_all()
    assert (await terms(kept, "free"))["numbers"] == ["+80012345678"]


async def test_a_long_list_is_sent_in_parts(kept: Rest) -> None:
    """The first requests have thousands of numbers, later ones only changes."""
    await lists(kept).put("acme", MANY, "p")
    await kept.services.policy_sync.sync_all()
    assert [await listed(kept, MANY[at]) for at in (0, 5_000, -1)] == [True, True, True]
    assert (await terms(kept))["doNotCall"] is True
    await lists(kept).put("acme", MANY[:6_000], "p", is_active=False)
    await lists(kept).remove("acme", MANY[-1], "p")
    await kept.services.policy_sync.sync_all()
    assert not await listed(kept, *MANY[:6_000], MANY[-1])
    assert await listed(kept, MANY[6_000])


async def test_an_empty_store_is_filled_again(kept: Rest) -> None:
    """The next comparison finds the loss; until then the list is unknown."""
    await lists(kept).put("acme", [CUSTOMER], "p")
    await kept.services.policy_sync.sync_all()
    kept.scene.store.dial_policies.lose_all()
    assert await listed(kept, CUSTOMER) is None
    await kept.services.policy_sync.sync_all()
    assert await listed(kept, CUSTOMER)
    assert (await terms(kept))["doNotCall"] is True


async def test_a_restored_database_wins(kept: Rest) -> None:
    """A list that is newer than the restored database is replaced; a command resends all lists."""
    await lists(kept).put("acme", [CUSTOMER], "p")
    await kept.services.policy_sync.sync_all()
    stands = (await lists(kept).versions("acme")).version
    change = {"after": stands, "version": stands + 50, "add": ["+4711111111"]}
    answer = await kept.scene.request("PATCH", "/terms/acme/dnc", change)
    assert answer == (200, {"version": stands + 50})
    await kept.services.policy_sync.sync_all()
    assert [await listed(kept, each) for each in (CUSTOMER, "+4711111111")] == [True, False]
    await kept.scene.request("PATCH", "/terms/acme/dnc", {"after": 0, "version": stands})
    await kept.services.policy_sync.sync_all()
    assert not await listed(kept, CUSTOMER)  # the equal version hides the difference
    await kept.services.policy_sync.resend_all()
    assert await listed(kept, CUSTOMER)


async def test_several_processes_push(kept: Rest) -> None:
    """While numbers change, the engine gets the final state of the database."""
    parts = kept.services
    several = [PolicySync(parts.engine, parts.accounts, lists(kept)) for _ in range(3)]

    async def change(numbers: Sequence[str]) -> None:
        for number in numbers:
            await lists(kept).put("acme", [number], "p")
            await lists(kept).remove("acme", number, "p")
            await lists(kept).put("acme", [number], "p")

    async def push(one: PolicySync) -> None:
        for _ in range(5):
            await one.sync_all()

    await asyncio.gather(change(MANY[:20]), change(MANY[20:40]), *map(push, several))
    await several[0].sync_all()
    for number in MANY[:40]:
        assert await listed(kept, number), number


async def test_a_change_is_pushed_at_once(rest: Rest) -> None:
    """A change of a list is pushed without waiting for the interval."""
    async with background(rest.services.policy_sync.run()):
        await until(lambda: _is_there(rest))
        await lists(rest).put("acme", [CUSTOMER], "p")
        rest.services.policy_sync.notify("acme")
        await until(partial(_is_listed, rest))


async def _is_listed(rest: Rest) -> bool:
    return await listed(rest, CUSTOMER) is True


async def _is_there(rest: Rest) -> bool:
    return await rest.scene.store.dial_policies.get("acme") is not None


async def test_a_list_of_another_database_is_replaced(kept: Rest) -> None:
    """Versions are times, so even the same number of changes gives another version."""
    await lists(kept).put("acme", [CUSTOMER], "p")
    await kept.services.policy_sync.sync_all()
    async with kept.services.database.writing() as connection:
        await connection.execute(delete(dnc.entries))
        await connection.execute(delete(dnc.lists))
    later = DncStore(kept.services.database, lambda: kept.services.now_ms() + 5)
    await later.put("acme", ["+4711111111"], "p")
    await kept.services.policy_sync.sync_all()
    assert [await listed(kept, each) for each in (CUSTOMER, "+4711111111")] == [False, True]


async def test_an_engine_without_dial_policies_is_retried(kept: Rest) -> None:
    """Requests to an older engine are retried until it is replaced."""
    requested: list[str] = []

    class OldEngine(EngineClient):
        async def request_raw(self, method: str, path: str, *_more: Any) -> bytes:
            requested.append(f"{method} {path}")
            raise NotFound("no such path")

    pusher = PolicySync(
        OldEngine(kept.services.engine.http, ()), kept.services.accounts, lists(kept)
    )
    task = asyncio.create_task(pusher.run(0.01))
    await until(
        lambda: requested[1:] == ["GET /terms"] * (len(requested) - 1) and len(requested) > 2
    )
    assert not task.done()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_unexpected_errors_are_logged_and_retried(rest: Rest) -> None:
    """Neither a comparison nor the synchronization of a changed account ends by an error."""
    parts = rest.services
    accounts = MoodyAccounts(parts.database, parts.now_ms)
    pusher = PolicySync(parts.engine, accounts, lists(rest))
    with capture_logs() as logged:
        async with background(pusher.run(0.01)):
            await until(lambda: _is_there(rest), what="the second comparison")
            accounts.fails_to_get = True
            pusher.notify("acme")
            await until(lambda: not accounts.fails_to_get, what="the failed synchronization")
            await lists(rest).put("acme", [CUSTOMER], "p")
            await until(partial(_is_listed, rest), what="the list")
    errors = [each for each in logged if each["log_level"] == "error"]
    assert [each.get("account") for each in errors] == [None, "acme"]


class MoodyAccounts(AccountStore):
    """Accounts that raise an unexpected error for the first list, and after `fails_to_get`."""

    fails_to_list = True
    fails_to_get = False

    async def all(self) -> list[Account]:
        """List the accounts; raises on the first call."""
        if self.fails_to_list:
            self.fails_to_list = False
            raise ZeroDivisionError
        return await super().all()

    async def get(self, account_id: str) -> Account:
        """Return an account; raises once after `fails_to_get` is set."""
        if self.fails_to_get:
            self.fails_to_get = False
            raise ZeroDivisionError
        return await super().get(account_id)


async def test_a_first_entry_is_in_force_everywhere(kept: Rest) -> None:
    """Engines that have just looked at the account do not know for a second that it has a list."""
    waits_s = list[float]()

    async def sleep(wait_s: float) -> None:
        waits_s.append(wait_s)

    sync = PolicySync(kept.services.engine, kept.services.accounts, lists(kept), sleep)
    await sync.sync_all()
    for number in (CUSTOMER, "+4790000009"):
        await lists(kept).put("acme", [number], "p")
        await sync.apply("acme")
    assert waits_s == [POLICY_TTL_MS / 1000]
    assert sync.list_version("acme") > 1
