"""Do-not-call over REST, both kinds of database: by token, by body or query, and then enforced."""

from typing import Any

import pytest
from msgspec.structs import replace

from api.common.errors import NotFound
from api.dnc.tokens import DncTokenStore
from tests.contract.api.rest import CUSTOMER, OURS, Rest

CALL = "/srmain/voice/call"
ASKED = {"from": OURS, "to": CUSTOMER}
ENTRY = {"phoneNo": CUSTOMER, "provider": "example-telecom"}
PUT_ON = {"accountId": "acme", **ENTRY, "isActive": True}


class Dnc:
    """A token of acme's, and what is done with it."""

    def __init__(self, rest: Rest, token: str) -> None:
        self.rest = rest
        self.token = token

    async def ask(
        self, deed: str, body: object = None, method: str = "GET", **query: str
    ) -> tuple[int, Any]:
        """Ask without any other authentication; engines know of it when this returns."""
        path = f"/srmain/dnc/{deed}/{self.token}"
        answer = await self.rest.ask(method, path, body, token="", params=query)
        await self.rest.parts.policy_sync.sync_all()
        return answer.status_code, answer.json()

    async def may_call(self, to: str = CUSTOMER) -> bool:
        """Try to call somebody."""
        answer = await self.rest.ask("POST", CALL, {**ASKED, "to": to})
        assert answer.status_code in {201, 400}, answer.text
        return answer.status_code == 201


@pytest.fixture
async def dnc(kept: Rest) -> Dnc:
    """Give a token of acme's."""
    tokens = DncTokenStore(kept.parts.database, kept.parts.now_ms)
    return Dnc(kept, await tokens.add("acme"))


async def test_a_number_on_the_list_is_not_called(dnc: Dnc) -> None:
    """A GET with a body puts it there, and another takes it off; the refusal names its field."""
    assert await dnc.may_call()
    assert await dnc.ask("subscribe", ENTRY) == (201, PUT_ON)
    assert await dnc.rest.refused("POST", CALL, ASKED) == (400, "do_not_call", ["to"])
    assert await dnc.may_call("+4733333333")
    assert await dnc.ask("unsubscribe", ENTRY) == (200, {**PUT_ON, "isActive": False})
    assert await dnc.may_call()


async def test_other_accounts_have_lists_of_their_own(dnc: Dnc) -> None:
    """A token changes its account's list, and that is asked for its account's calls only."""
    await dnc.ask("subscribe", ENTRY)
    theirs = await dnc.rest.token_of("other", "other")
    answer = await dnc.rest.ask("POST", CALL, ASKED, token=theirs)
    assert answer.status_code == 201


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_the_query_may_say_it(dnc: Dnc, method: str) -> None:
    """For clients that can't send a GET with a body; a POST does the same."""
    assert await dnc.ask("subscribe", None, method, **ENTRY) == (201, PUT_ON)
    assert not await dnc.may_call()
    assert (await dnc.ask("unsubscribe", None, method, **ENTRY))[0] == 200
    assert (await dnc.ask("subscribe", ENTRY, "POST"))[0] == 201


async def test_entries_are_a_providers(dnc: Dnc) -> None:
    """A number is called again when no provider's entry stands; an inactive one forbids nothing."""
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
async def test_numbers_are_kept_with_their_country(dnc: Dnc, given: str, shown: str) -> None:
    """One without is of the account's region, or refused."""
    account = await dnc.rest.parts.accounts.get("acme")
    await dnc.rest.parts.accounts.change(replace(account, region="NO"))
    status, view = await dnc.ask("subscribe", {**ENTRY, "phoneNo": given})
    assert (status, view["phoneNo"]) == (201, shown)
    assert not await dnc.may_call(shown)


async def test_however_it_is_dialled(dnc: Dnc) -> None:
    """A list that can be walked round is none."""
    await dnc.ask("subscribe", ENTRY)
    for party in (CUSTOMER, "004722222222", "4722222222", "22222222", "*31*22222222"):
        assert not await dnc.may_call(party), party


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "phoneNo"),
        ({"phoneNo": CUSTOMER}, "provider"),
        ({**ENTRY, "phoneNo": "nobody"}, "phoneNo"),
        ({**ENTRY, "phoneNo": "+1"}, "phoneNo"),
        ({**ENTRY, "phoneNo": "22222222"}, "phoneNo"),
        ({**ENTRY, "phoneNo": "+4722222222 ext. 5"}, "phoneNo"),
        ({**ENTRY, "provider": ""}, "provider"),
        ({**ENTRY, "provider": "a\nb"}, "provider"),
        ({**ENTRY, "accountId": "other"}, "accountId"),
        ({**ENTRY, "isActive": "perhaps"}, "isActive"),
        ({**ENTRY, "reason": "none"}, "reason"),
    ],
)
async def test_bad_entries(dnc: Dnc, body: object, field: str) -> None:
    """Each is refused by the name of its field."""
    for deed in ("subscribe", "unsubscribe"):
        status, problem = await dnc.ask(deed, body, "POST")
        assert (status, [each["path"] for each in problem["errors"]]) == (400, [field])


async def test_tokens(dnc: Dnc) -> None:
    """Nobody's token, a revoked one, one of an account that may do nothing: 401."""
    tokens = DncTokenStore(dnc.rest.parts.database, dnc.rest.parts.now_ms)
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
