"""Do-not-call over REST on both databases: by token, by body or query, and enforced on calls."""

from typing import Any

import pytest
from msgspec.structs import replace

from api.common.errors import NotFound
from api.dnc.store import DncStore, ListVersions
from api.dnc.tokens import DncTokenStore
from tests.harness.api.rest import CUSTOMER, OURS, Rest

CALL = "/srmain/voice/call"
REQUESTED = {"from": OURS, "to": CUSTOMER}
ENTRY = {"phoneNo": CUSTOMER, "provider": "example-telecom"}
PUT_ON = {"accountId": "acme", **ENTRY, "isActive": True}
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
    assert row == {**ENTRY, "isActive": True}
    assert (await get(kept, phoneNo="+4790000000"))["data"] == []
    removed = await kept.request("DELETE", LIST, params=ENTRY)
    assert removed.json() == {**PUT_ON, "isActive": False}
    assert (await get(kept, isActive="true"))["data"] == []
    assert [each["isActive"] for each in (await get(kept))["data"]] == [False]


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
