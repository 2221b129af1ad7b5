"""Do-not-call over REST on both databases: by token, by body or query, and enforced on calls."""

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from msgspec.structs import replace

from api.common.errors import NotFound
from api.db.database import work_of
from api.dnc.schemas import DncEntry, EntryQuery
from api.dnc.store import DncStore, EntryFilter, ListVersions
from api.dnc.tokens import DncTokenStore
from api.engine_client import EngineClient, EngineUnavailable
from api.policy_sync.sync import PolicySync
from tests.harness.api.databases import migrated_database, sqlite_url
from tests.harness.api.rest import CUSTOMER, OURS, Rest

CALL = "/srmain/voice/call"
REQUESTED = {"from": OURS, "to": CUSTOMER}
ENTRY = {"phoneNo": CUSTOMER, "provider": "example-telecom"}
PUT_ON = {"accountId": "acme", **ENTRY, "isActive": True, "isInForce": True}
FIVE = [f"+479000000{number}" for number in range(5)]


class Dnc:
    """A client with a do-not-call token of acme."""

    def __init__(self, rest: Rest, token: str) -> None:
        self.rest = rest
        self.token = token

    async def ask(
        self, action: str, body: object = None, method: str = "GET", **query: str
    ) -> tuple[int, Any]:
        """Send a request without other authentication, and push the change to the engine."""
        path = f"/srmain/dnc/{action}/{self.token}"
        answer = await self.rest.request(method, path, body, token="", params=query)
        await self.rest.services.policy_sync.sync_all()
        return answer.status_code, answer.json()

    async def may_call(self, to: str = CUSTOMER) -> bool:
        """Call a number; return whether the call was accepted."""
        answer = await self.rest.request("POST", CALL, {**REQUESTED, "to": to})
        assert answer.status_code in {201, 400}, answer.text
        return answer.status_code == 201


@pytest.fixture
async def dnc(kept: Rest) -> Dnc:
    """Provide a client with a token of acme."""
    tokens = DncTokenStore(kept.services.database, kept.services.now_ms)
    return Dnc(kept, await tokens.add("acme"))


async def test_a_number_on_the_list_is_not_called(dnc: Dnc) -> None:
    """A GET with a body adds or removes it; the rejected call names its field."""
    assert await dnc.may_call()
    assert await dnc.ask("subscribe", ENTRY) == (201, PUT_ON)
    assert await dnc.rest.rejected("POST", CALL, REQUESTED) == (400, "do_not_call", ["to"])
    assert await dnc.may_call("+4733333333")
    assert await dnc.ask("unsubscribe", ENTRY) == (200, {**PUT_ON, "isActive": False})
    assert await dnc.may_call()


async def test_other_accounts_have_lists_of_their_own(dnc: Dnc) -> None:
    """A token changes its account's list, and the list applies to that account only."""
    await dnc.ask("subscribe", ENTRY)
    theirs = await dnc.rest.token_of("other", "other")
    answer = await dnc.rest.request("POST", CALL, REQUESTED, token=theirs)
    assert answer.status_code == 201


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_the_query_replaces_the_body(dnc: Dnc, method: str) -> None:
    """The query is for clients that cannot send a GET with a body; a POST works, too."""
    assert await dnc.ask("subscribe", None, method, **ENTRY) == (201, PUT_ON)
    assert not await dnc.may_call()
    assert (await dnc.ask("unsubscribe", None, method, **ENTRY))[0] == 200
    assert (await dnc.ask("subscribe", ENTRY, "POST"))[0] == 201


@pytest.mark.parametrize("query", ["phoneNo=+4722222222", "phoneNo=%204722222222"])
async def test_a_plus_sign_in_a_query_need_not_be_escaped(kept: Rest, query: str) -> None:
    """On every route: a browser sends it as it is, and a server reads a blank."""
    account = await kept.services.accounts.get("acme")
    await kept.services.accounts.change(replace(account, region="DE"))
    token = await DncTokenStore(kept.services.database, kept.services.now_ms).add("acme")
    for path in ("subscribe", "unsubscribe"):
        link = f"{LIST}/{path}/{token}?{query}&provider=example-telecom"
        answer = await kept.request("GET", link, token="")
        assert answer.json()["phoneNo"] == CUSTOMER
    assert len((await get(kept, phoneNo=CUSTOMER))["data"]) == 1
    listed = await kept.request("GET", f"{LIST}?{query}")
    assert [each["phoneNo"] for each in listed.json()["data"]] == [CUSTOMER]
    removed = await kept.request("DELETE", f"{LIST}?{query}&provider=example-telecom")
    assert removed.json()["phoneNo"] == CUSTOMER


async def test_entries_belong_to_a_provider(dnc: Dnc) -> None:
    """A number is allowed when no provider has an active entry for it."""
    await dnc.ask("subscribe", {**ENTRY, "isActive": False})
    assert await dnc.may_call()
    await dnc.ask("subscribe", ENTRY)
    await dnc.ask("subscribe", {**ENTRY, "provider": "another"})
    await dnc.ask("unsubscribe", ENTRY)
    assert not await dnc.may_call()
    await dnc.ask("unsubscribe", {**ENTRY, "provider": "another"})
    await dnc.ask("unsubscribe", {**ENTRY, "provider": "third"})
    assert await dnc.may_call()


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("22 22 22 22", CUSTOMER),
        ("0047 2222-2222", CUSTOMER),
        ("+1 (202) 555-0123", "+12025550123"),
    ],
)
async def test_numbers_are_stored_with_their_country(dnc: Dnc, given: str, shown: str) -> None:
    """A number without a country belongs to the account's region."""
    account = await dnc.rest.services.accounts.get("acme")
    await dnc.rest.services.accounts.change(replace(account, region="NO"))
    status, view = await dnc.ask("subscribe", {**ENTRY, "phoneNo": given})
    assert (status, view["phoneNo"]) == (201, shown)
    assert not await dnc.may_call(shown)


async def test_no_spelling_bypasses_the_list(dnc: Dnc) -> None:
    """No spelling of a number bypasses the list."""
    await dnc.ask("subscribe", ENTRY)
    for party in (CUSTOMER, "004722222222", "4722222222", "22222222", "*31*22222222"):
        assert not await dnc.may_call(party), party


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"provider": "x"}, "phoneNo"),
        ({"phoneNo": CUSTOMER}, "provider"),
        ({**ENTRY, "phoneNo": "nobody"}, "phoneNo"),
        ({**ENTRY, "phoneNo": "+1"}, "phoneNo"),
        ({**ENTRY, "phoneNo": "+4912345678901234"}, "phoneNo"),  # more than 15 digits
        ({**ENTRY, "phoneNo": "+4722222222/+4722222223"}, "phoneNo"),
        ({**ENTRY, "phoneNo": "+4722222222 ext. 5"}, "phoneNo"),
        ({**ENTRY, "provider": ""}, "provider"),
        ({**ENTRY, "provider": "a\nb"}, "provider"),
        ({**ENTRY, "provider": "x" * 65}, "provider"),
        ({**ENTRY, "accountId": "other"}, "accountId"),
        ({**ENTRY, "isActive": "perhaps"}, "isActive"),
        ({**ENTRY, "reason": "none"}, "reason"),
    ],
)
async def test_bad_entries(dnc: Dnc, body: object, field: str) -> None:
    """Each error names its field."""
    for action in ("subscribe", "unsubscribe"):
        status, problem = await dnc.ask(action, body, "POST")
        assert (status, [each["path"] for each in problem["errors"]]) == (400, [field])


async def test_the_longest_provider(dnc: Dnc) -> None:
    """It has 64 characters."""
    entry = {**ENTRY, "provider": "x" * 64}
    assert await dnc.ask("subscribe", entry) == (201, {**PUT_ON, **entry})


async def test_tokens(dnc: Dnc) -> None:
    """An unknown or revoked token gets 401."""
    tokens = DncTokenStore(dnc.rest.services.database, dnc.rest.services.now_ms)
    (shown,) = await tokens.all("acme")
    assert dnc.token.startswith(f"swd_{shown.id}_")
    assert (await Dnc(dnc.rest, f"{dnc.token}x").ask("subscribe", ENTRY))[0] == 401
    with pytest.raises(NotFound):
        await tokens.revoke("other", shown.id)
    with pytest.raises(NotFound):
        await tokens.add("nobody")
    assert (await dnc.ask("subscribe", ENTRY))[0] == 201
    await tokens.revoke("acme", shown.id)
    status, problem = await dnc.ask("unsubscribe", ENTRY)
    assert (status, problem["title"]) == (401, "User not authenticated")
    assert not await dnc.may_call()


async def test_versions_only_grow(kept: Rest) -> None:
    """Each change has a version, even if the clock stands still or is set back."""
    now = [5_000]
    store = DncStore(kept.services.database, lambda: now[0])
    await store.put("acme", FIVE[:3], "p")
    assert await store.versions("acme") == ListVersions(4_997, 5_000)
    await store.put("acme", FIVE[3:5], "p")
    now[0] = 10
    await store.remove("acme", FIVE[0], "p")
    found = await store.changes("acme", 1, 6_000, 10)
    assert [each.version for each in found] == [4_999, 5_000, 5_001, 5_002, 5_003]
    assert [each.number for each in found if not each.is_listed] == [FIVE[0]]
    assert await store.changes("acme", 4_999, 6_000, 10) == found[1:]
    assert [each.version for each in await store.changes("acme", 0, 5_001, 2)] == [4_999, 5_000]


LIST = "/srmain/dnc"


async def get(rest: Rest, **query: str) -> Any:
    """Return a page of the list."""
    answer = await rest.request("GET", LIST, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_key_lists_adds_checks_and_removes(kept: Rest) -> None:
    """With scopes for contacts; a number is written in any form, and listed in E.164."""
    entry = {"phoneNo": "0047 22 22 22 22", "provider": "example-telecom"}
    assert await kept.post(LIST, **entry) == PUT_ON
    row = (await get(kept, phoneNo=CUSTOMER))["data"][0]
    changed = row.pop("changedTime")
    assert changed.endswith("Z")
    assert row == {**ENTRY, "isActive": True, "isInForce": True, "refusal": None}
    assert (await get(kept, phoneNo="+4790000000"))["data"] == []
    removed = await kept.request("DELETE", LIST, params=ENTRY)
    assert removed.json() == {**PUT_ON, "isActive": False}
    assert (await get(kept, isActive="true"))["data"] == []
    assert [each["isActive"] for each in (await get(kept))["data"]] == [False]


REFUSED = "4790000009"  # without a plus sign, as no border of the list stores it


async def test_a_number_that_engines_refuse_blocks_no_other(kept: Rest) -> None:
    """It is not in force, with the reason and an alert; a change of the list is its way back."""
    store = DncStore(kept.services.database, kept.services.now_ms)
    await store.put("acme", [REFUSED, CUSTOMER], "example-telecom")
    assert await kept.post(LIST, **ENTRY | {"phoneNo": FIVE[0]}) == PUT_ON | {"phoneNo": FIVE[0]}
    rows = {each["phoneNo"]: each for each in (await get(kept))["data"]}
    assert {number for number, row in rows.items() if not row["isInForce"]} == {REFUSED}
    assert rows[REFUSED]["refusal"] == "expected a number with its country, such as +4721930000"
    assert rows[CUSTOMER]["refusal"] is None
    called = Dnc(kept, "")
    assert not await called.may_call()
    assert not await called.may_call(FIVE[0])
    await kept.services.dnc.measure()
    assert not_in_force(kept) == {"refused": 1, "waiting": 0}
    await kept.services.policy_sync.resend_all()  # with a list that is whole: calls are placed
    assert not await called.may_call()
    assert await called.may_call("+4733333333")
    await store.remove("acme", REFUSED, "example-telecom")
    await kept.services.dnc.measure()
    assert not_in_force(kept)["refused"] == 0


async def test_an_entry_that_engines_do_not_have_is_shown_as_such(kept: Rest) -> None:
    """While none answers; the alert says how many there are."""
    services = kept.services
    sync = PolicySync(Unreachable(services.engine.http, ()), services.accounts, services.dnc.store)
    service = replace(services.dnc, engines=sync)
    view = await service.add("acme", DncEntry(CUSTOMER, "example-telecom"))
    assert (view.is_active, view.is_in_force) == (True, False)
    assert not (await service.list("acme", EntryQuery())).data[0].is_in_force
    await service.measure()
    assert not_in_force(kept) == {"refused": 0, "waiting": 1}
    await kept.services.policy_sync.sync_all()
    assert (await get(kept))["data"][0]["isInForce"]


class Unreachable(EngineClient):
    """A client whose engines do not answer."""

    async def request_raw(self, *_: object) -> bytes:
        """Raise ServiceUnavailable."""
        raise EngineUnavailable("no engine answers")


def not_in_force(rest: Rest) -> dict[str, float]:
    """Return the metric of entries that are not in force, by reason."""
    (family,) = rest.services.metrics.dnc_not_in_force.collect()
    return {each.labels["reason"]: each.value for each in family.samples}


async def test_the_list_has_pages_in_the_order_of_numbers(kept: Rest) -> None:
    """Those of a number with several providers are in the order of the providers."""
    for number in reversed(FIVE):
        for provider in ("b, c", "a"):
            await kept.post(LIST, phoneNo=number, provider=provider)
    found: list[tuple[str, str]] = []
    cursor = ""
    while True:
        page = await get(kept, limit="3", cursor=cursor)
        found += [(each["phoneNo"], each["provider"]) for each in page["data"]]
        if page["nextCursor"] is None:
            break
        cursor = page["nextCursor"]
    assert found == [(number, provider) for number in FIVE for provider in ("a", "b, c")]


async def test_another_account_sees_and_changes_its_own_list(kept: Rest) -> None:
    """Also if it names the first account."""
    await kept.post(LIST, **ENTRY)
    theirs = await kept.token_of("other", "other")
    assert (await kept.request("GET", LIST, token=theirs)).json()["data"] == []
    await kept.request("DELETE", LIST, token=theirs, params=ENTRY)
    assert (await get(kept))["data"][0]["isActive"]
    body = {**ENTRY, "accountId": "acme"}
    assert await kept.rejected("POST", LIST, body, token=theirs) == (400, "invalid", ["accountId"])


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"phoneNo": "12"}, "phoneNo"),
        ({"cursor": "x"}, "cursor"),
        ({"isActive": "perhaps"}, "isActive"),
        ({"limit": "0"}, "limit"),
    ],
)
async def test_a_bad_query_is_rejected(kept: Rest, query: dict[str, str], field: str) -> None:
    """The problem names the parameter."""
    assert await kept.rejected("GET", LIST, params=query) == (400, "invalid", [field])


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_the_query_and_the_body_agree(dnc: Dnc, method: str) -> None:
    """A parameter that the body contradicts is an error: one of the two numbers would be lost."""
    path = f"{LIST}/subscribe/{dnc.token}"
    for query, named in (
        (f"phoneNo={OURS}&isActive=false", ["phoneNo", "isActive"]),
        ("phone=1", ["phone"]),
    ):
        found = await dnc.rest.rejected(method, f"{path}?{query}", ENTRY)
        assert found == (400, "invalid", named)
    assert await dnc.may_call()
    same = f"{path}?phoneNo={CUSTOMER}&isActive=true"
    assert (await dnc.rest.request(method, same, ENTRY)).status_code == 201


async def test_a_repeated_parameter_is_named(dnc: Dnc) -> None:
    """On every route, as a link, a list, and a POST with a key; who asks is checked first."""
    numbers = f"phoneNo={OURS}&provider=p&phoneNo={CUSTOMER}"
    for method, path, names in (
        ("GET", f"{LIST}/subscribe/{dnc.token}?{numbers}", ["phoneNo"]),
        ("POST", f"{LIST}/subscribe/{dnc.token}?{numbers}", ["phoneNo"]),
        ("DELETE", f"{LIST}?{numbers}", ["phoneNo"]),
        ("GET", f"{LIST}?limit=1&cursor=&limit=1", ["limit"]),
        ("POST", f"{LIST}?a=1&a=2&b=1&b=1", ["a", "b"]),
    ):
        headers = {"Idempotency-Key": "0123456789"}
        body = ENTRY if names == ["a", "b"] else None
        found = await dnc.rest.rejected(method, path, body, headers=headers)
        assert found == (400, "invalid", names), path
    twice = await dnc.rest.request("GET", f"{LIST}?limit=1&limit=1", token="")
    assert twice.status_code == 401


async def test_a_filter_that_matches_nothing_reads_no_list(tmp_path: Path) -> None:
    """A page of the removed entries is a range of an index, in its order."""
    sent: list[tuple[str, Any]] = []

    def collect(*arguments: Any) -> None:
        sent.append(arguments[2:4])

    async with migrated_database(sqlite_url(tmp_path)) as database:
        sa.event.listen(sa.Engine, "before_cursor_execute", collect)
        try:
            filters = EntryFilter(is_active=False, after=(CUSTOMER, ""))
            await DncStore(database, lambda: 0).page("acme", filters, 10)
        finally:
            sa.event.remove(sa.Engine, "before_cursor_execute", collect)
        async with database.reading() as connection:
            (statement, values) = sent[-1]
            plan = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
            (step,) = plan.mappings().all()
    assert step["detail"].endswith("(account_id=? AND is_active=? AND (number,provider)>(?,?))")


@pytest.mark.parametrize("by", ["key", "link"])
async def test_a_writer_is_its_accounts(dnc: Dnc, by: str) -> None:
    """Whoever authenticates a request: its transaction waits in the queue of that account."""
    owners = set[str]()

    def collect(*arguments: Any) -> None:
        if arguments[2].startswith("INSERT INTO dnc_entries"):
            owners.add(work_of.get())

    sa.event.listen(sa.Engine, "before_cursor_execute", collect)
    try:
        if by == "key":
            await dnc.rest.request("POST", "/srmain/dnc", ENTRY)
        else:
            await dnc.ask("subscribe", ENTRY)
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", collect)
    assert owners == {"acme"}
