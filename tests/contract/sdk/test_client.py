"""The Python SDK's clients with a real REST layer and engine."""

import asyncio

import pytest
from switchroom_sdk import ApiError, AsyncSwitchroom, ConnectionFailed, Switchroom, gather, say

from tests.contract.sdk.conftest import ACCOUNT, NUMBER, Server
from tests.harness.api.cdrs.records import record, recording, write_calls

CUSTOMER = "+4722222222"


async def test_a_call_is_created_shown_listed_and_hung_up(switchroom: AsyncSwitchroom) -> None:
    """Results have types; the tree reaches the engine with absolute addresses."""
    created = await switchroom.calls.create(
        from_=NUMBER,
        to=CUSTOMER,
        action=say("Press one.").gather(max_digits=1, action="/menu"),
        custom_data={"order": 4711},
    )
    shown = await switchroom.calls.get(created.call_id)
    assert (shown.from_, shown.to, shown.custom_data) == (NUMBER, CUSTOMER, {"order": 4711})
    assert [each.call_id async for each in switchroom.calls.list()] == [created.call_id]
    ended = await switchroom.calls.hangup(created.call_id)
    assert ended.call_id == created.call_id


async def test_the_client_without_asyncio_does_the_same(server: Server) -> None:
    """The synchronous client has the same methods and results."""

    def use() -> None:
        with Switchroom(base_url=server.url, api_key=server.key) as switchroom:
            created = switchroom.calls.create(from_=NUMBER, to=CUSTOMER, action=say("Hello."))
            assert [each.call_id for each in switchroom.calls.list()] == [created.call_id]
            assert switchroom.calls.list().first().total == 1
            with pytest.raises(ApiError) as error:
                switchroom.calls.get("none")
            assert error.value.status == 404

    await asyncio.to_thread(use)


async def test_an_error_has_the_code_and_the_field(switchroom: AsyncSwitchroom) -> None:
    """What the REST layer says of a request is in the exception, with the id for support."""
    with pytest.raises(ApiError) as error:
        await switchroom.calls.create(from_=NUMBER, to="nobody", action=gather(action="/menu"))
    problem = error.value
    assert (problem.status, problem.field) == (400, "to")
    assert problem.errors[0].message in str(problem)
    assert (problem.code, problem.type) == ("invalid", "/docs/errors/invalid")
    assert problem.request_id


async def test_a_wrong_key_is_an_error(server: Server) -> None:
    """401 has its code, and is not repeated."""
    async with AsyncSwitchroom(base_url=server.url, api_key="wrong") as switchroom:
        with pytest.raises(ApiError) as error:
            await switchroom.account.get()
    assert (error.value.status, error.value.code) == (401, "unauthenticated")


async def test_the_same_key_creates_one_call(switchroom: AsyncSwitchroom) -> None:
    """A repetition with the idempotency key of the first request gets its response."""
    key = "order-4711"
    found = {
        (await switchroom.calls.create(from_=NUMBER, to=CUSTOMER, idempotency_key=key)).call_id
        for _ in range(2)
    }
    assert len(found) == 1
    other = await switchroom.calls.create(from_=NUMBER, to=CUSTOMER)
    assert other.call_id not in found


async def test_a_number_runs_a_tree(switchroom: AsyncSwitchroom) -> None:
    """A route is set with a chain or an address, shown, and deleted."""
    await switchroom.numbers.set_route(NUMBER, action="/answer", fallback=say("Call again later."))
    shown = await switchroom.numbers.route(NUMBER)
    assert shown.action == "https://example.com/answer"
    assert isinstance(shown.fallback, dict)
    assert [each.number async for each in switchroom.numbers.list()] == [NUMBER]
    await switchroom.numbers.delete_route(NUMBER)


async def test_all_pages_of_a_list_are_read(switchroom: AsyncSwitchroom) -> None:
    """An iterator requests the next page by offset until there is none."""
    ids = [f"agent{index}" for index in range(5)]
    for each in ids:
        await switchroom.agents.put(each, endpoint=f"PJSIP/shop-{each}")
    assert [each.agent_id async for each in switchroom.agents.list(limit=2)] == ids
    pages = [len(page.data) async for page in switchroom.agents.list(limit=2).pages()]
    assert pages == [2, 2, 1]


async def test_a_page_may_have_a_cursor(server: Server, switchroom: AsyncSwitchroom) -> None:
    """An iterator follows `nextCursor`; a record has types down to its recordings."""
    calls = [
        record(number, account_id=ACCOUNT, recordings=(recording("call"),)) for number in range(5)
    ]
    await write_calls(server.served.services.database, *calls)
    found = [each async for each in switchroom.records.list(limit=2)]
    assert [each.req_id for each in found] == [each.call_id for each in reversed(calls)]
    assert found[0].recordings[0].duration_ms == 30_000
    history = switchroom.records.customer_history(number="+4722222222", limit=2, offset=1)
    assert len([each async for each in history]) == 4


async def test_a_change_may_be_made_to_one_version(switchroom: AsyncSwitchroom) -> None:
    """`if_match` takes the `version` of a list; of another version it is 412."""
    await switchroom.agents.put("anna", endpoint="PJSIP/shop-anna")
    version = str((await switchroom.agents.get("anna")).version)
    await switchroom.agents.put("anna", endpoint="PJSIP/shop-anna2", if_match=version)
    with pytest.raises(ApiError) as error:
        await switchroom.agents.put("anna", endpoint="PJSIP/shop-anna3", if_match=version)
    assert error.value.code == "changed_meanwhile"


async def test_any_other_path_is_requested(switchroom: AsyncSwitchroom) -> None:
    """What has no method of its own returns the JSON as it is."""
    found = await switchroom.request(
        "GET", "/srmain/contacts_list/contactlists", query={"limit": 5}
    )
    assert found["data"] == []


async def test_no_server_is_an_error_of_its_own() -> None:
    """The error names the address; a connection is tried three times."""
    delays = []

    async def sleep(delay_s: float) -> None:
        delays.append(delay_s)

    client = AsyncSwitchroom(base_url="http://127.0.0.1:1", api_key="key", sleep=sleep)
    async with client as switchroom:
        with pytest.raises(ConnectionFailed, match=r"http://127\.0\.0\.1:1"):
            await switchroom.account.get()
    assert delays == [0.5, 1.0]


async def test_with_account_and_secret_a_token_is_used(server: Server) -> None:
    """The client gets an access token; one that is not valid any more is replaced."""
    client = AsyncSwitchroom(
        base_url=server.url,
        account=ACCOUNT,
        api_key=server.key,
        api_secret=server.credentials.api_secret,
    )
    async with client as switchroom:
        assert (await switchroom.account.get()).id == ACCOUNT
        switchroom.token = "expired"  # noqa: S105 - no secret
        assert (await switchroom.account.get()).id == ACCOUNT
        assert switchroom.token not in {"", "expired", server.key}


async def test_a_wrong_secret_is_an_error(server: Server) -> None:
    """A token that cannot be had is not requested for ever."""
    client = AsyncSwitchroom(
        base_url=server.url,
        account=ACCOUNT,
        api_key=server.key,
        api_secret="wrong",  # noqa: S106 - no secret
    )
    async with client as switchroom:
        with pytest.raises(ApiError) as error:
            await switchroom.account.get()
    assert error.value.status == 401
