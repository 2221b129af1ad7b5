"""Limits of an account: destinations, rate, live calls; and idempotent requests."""

import asyncio

import msgspec
import pytest
from sqlalchemy import select

from api.common.errors import Conflict
from api.documents.cipher import DocumentCipher
from api.http.idempotency import LEASE_MS, RETENTION_MS, Idempotency, IdempotentRequest, responses
from api.voice.rate_limits import RateLimits
from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.rest import CUSTOMER, OURS, Rest, run_rest, settings_for
from tests.harness.rpc.conversation import talking
from tests.harness.rpc.scene import RpcScene, created
from tests.harness.until import until
from wire.decoding.errors import BadInput

CIPHER = DocumentCipher(("secret",))
CALL = "/srmain/voice/call"
BODY = {"from": OURS, "to": CUSTOMER}
KEY = {"Idempotency-Key": "order-4711"}


async def limit(rest: Rest, **limits: object) -> None:
    """Set limits of the account."""
    account = await rest.services.accounts.get("acme")
    await rest.services.accounts.change(msgspec.structs.replace(account, **limits))


async def test_only_allowed_destinations_are_called(rest: Rest) -> None:
    """Prefixes apply to each field with a number; agents are always allowed."""
    await limit(rest, destinations=("+47", "+46"))
    talk = await talking(rest.scene)
    dial = {"type": "dial", "data": {"number": ["+4733333333", "+15551234567"]}}
    transfer = {
        "callId": talk.call,
        "transferMode": "blind",
        "sourceAgentId": "1001",
        "customerChannelId": talk.customer,
        "sourceChannelId": talk.agent,
        "target": {"kind": "number", "number": "+15551234567"},
    }
    member = {
        "callId": talk.call,
        "requestedByAgentId": "1001",
        "customerChannelId": talk.customer,
        "sourceChannelId": talk.agent,
        "sourceAgentId": "1001",
        "targetExternalNumber": "+15551234567",
    }
    for path, body, field in (
        ("call", {**BODY, "to": "+15551234567"}, "to"),
        ("call", {**BODY, "to": "0015551234567"}, "to"),
        ("call", {**BODY, "from": "+15551234567"}, "from"),
        ("call", {**BODY, "action": dial}, "action.data.number"),
        ("dial", {"callId": talk.call, "target": "+15551234567"}, "target"),
        ("transfer/init", transfer, "target.number"),
        ("conference/add-members", member, "targetExternalNumber"),
    ):
        problem = await rest.rejected("POST", f"/srmain/voice/{path}", body)
        assert problem == (400, "not_allowed", [field])
    await rest.post(CALL, **BODY)
    await rest.post(CALL, **{**BODY, "to": "agent:1001"})
    await rest.post(CALL, **{**BODY, "to": "004722222222"})


async def test_a_number_without_a_country_is_rejected(rest: Rest) -> None:
    """Also inside a tree, and where all destinations are allowed."""
    dial = {"type": "dial", "data": {"number": ["+4733333333", "4155551234"]}}
    for body, field in (
        ({**BODY, "to": "4155551234"}, "to"),
        ({**BODY, "from": "4155551234"}, "from"),
        ({**BODY, "action": dial}, "action.data.number"),
    ):
        problem = await rest.rejected("POST", CALL, body)
        assert problem == (400, "number_without_country", [field])


@pytest.mark.parametrize("spelling", ["4721930000", "004721930000", "21930000"])
async def test_an_own_number_is_a_caller_id_in_each_spelling(rest: Rest, spelling: str) -> None:
    """It is not called first, as another party would be."""
    assert OURS == "+4721930000"
    call = (await rest.post(CALL, **{**BODY, "from": spelling}))["callId"]
    shown = (await rest.request("GET", f"/srmain/voice/call-details/{call}")).json()
    assert (shown["from"], [each["party"] for each in shown["legs"]]) == (OURS, [CUSTOMER])


async def test_live_calls_are_limited(rest: Rest) -> None:
    """A call over the limit gets 429 with Retry-After; other accounts are not affected."""
    await limit(rest, max_calls=2)
    for _ in range(2):
        await rest.post(CALL, **BODY)
    answer = await rest.request("POST", CALL, BODY)
    assert (answer.status_code, answer.json()["code"]) == (429, "live_calls")
    assert answer.headers["retry-after"]
    theirs = await rest.token_of("other", "other")
    assert (await rest.request("POST", CALL, BODY, token=theirs)).status_code == 201


async def test_calls_per_second_are_limited(database_url: str, scene: RpcScene) -> None:
    """After a burst of one second a call gets 429."""
    settings = settings_for(database_url, scene.url)
    async with run_rest(settings, scene, ManualClock()) as rest:
        await limit(rest, max_calls_per_s=3)
        statuses = [(await rest.request("POST", CALL, BODY)).status_code for _ in range(5)]
        assert statuses == [201, 201, 201, 429, 429]


async def test_rate_limits_are_exact(kept: Rest) -> None:
    """Two processes together admit ten times the rate in ten seconds, and one burst."""
    now = [1_000_000]
    several = [RateLimits(kept.services.database, lambda: now[0]) for _ in range(2)]
    granted = 0
    for _ in range(200):
        granted += sum(await asyncio.gather(*(each.take("acme", 2.0) for each in several)))
        now[0] += 50
    assert granted in {20, 21, 22}


async def test_a_low_rate_admits_one_call_at_a_time(kept: Rest) -> None:
    """Also if that is less than one a second; each account has its own."""
    now = [1_000_000]
    rates = RateLimits(kept.services.database, lambda: now[0])
    taken = []
    for passed_ms in (0, 9_999, 1, 10_000, 0):
        now[0] += passed_ms
        taken.append(await rates.take("acme", 0.1))
    assert taken == [True, False, True, True, False]
    assert await rates.take("other", 0.1)


async def test_a_post_with_a_key_is_executed_once(kept: Rest) -> None:
    """It makes one call, and every response is the same."""
    responses = [await kept.request("POST", CALL, BODY, headers=KEY) for _ in range(3)]
    assert {(each.status_code, each.text) for each in responses} == {(201, responses[0].text)}
    assert len(created(kept.scene)) == 1
    theirs = await kept.token_of("other", "other")
    other = await kept.request("POST", CALL, BODY, headers=KEY, token=theirs)
    assert (other.status_code, other.text != responses[0].text) == (201, True)


async def test_a_key_is_for_one_request(kept: Rest) -> None:
    """The key with another body gets 400."""
    await kept.request("POST", CALL, BODY, headers=KEY)
    problem = await kept.rejected("POST", CALL, {**BODY, "timeout": 9}, headers=KEY)
    assert problem == (400, "idempotency_key_reused", ["Idempotency-Key"])
    long = {"Idempotency-Key": "x" * 129}
    assert (await kept.rejected("POST", CALL, BODY, headers=long))[0] == 400


async def test_a_key_is_free_after_a_day(kept: Rest) -> None:
    """Then another request may use it."""
    now = [1_000_000]
    idempotency = Idempotency(kept.services.database, lambda: now[0], "secret", CIPHER)
    first = IdempotentRequest("acme", None, "k", "/x", b"first")
    other = msgspec.structs.replace(first, body=b"other")

    async def run(_request_id: str) -> bytes:
        return b"%d" % now[0]

    assert await idempotency.once(first, run) == b"1000000"
    now[0] += RETENTION_MS - 1
    with pytest.raises(BadInput, match="was used for another request"):
        await idempotency.once(other, run)
    now[0] += 1
    assert await idempotency.once(other, run) == b"%d" % now[0]


async def test_the_bytes_of_an_accounts_responses(kept: Rest) -> None:
    """Beyond them only ids are kept, as of a large response; time restores them."""
    now = [1_000_000]
    idempotency = Idempotency(
        kept.services.database, lambda: now[0], "secret", CIPHER, max_kept_bytes=16 * 100
    )

    async def run(_request_id: str) -> bytes:
        return b'{"callId":"c-1"}'.ljust(60)

    async def repeated(key: str, account: str = "acme") -> bytes:
        request = IdempotentRequest(account, None, key, "/x", b"")
        await idempotency.once(request, run)
        return await idempotency.once(request, run)

    whole = await run("")
    assert await repeated("1") == whole
    with pytest.raises(Conflict, match="is not kept: callId c-1"):
        await repeated("2")
    assert await repeated("1") == whole
    await kept.token_of("other", "other")
    assert await repeated("1", "other") == whole
    now[0] += RETENTION_MS // 16
    assert await repeated("3") == whole


async def test_a_request_in_progress_is_a_conflict(kept: Rest) -> None:
    """It gets 409; if its process dies, a retry runs with the same request id."""
    now = [1_000_000]
    idempotency = Idempotency(kept.services.database, lambda: now[0], "secret", CIPHER)
    idempotent_request = IdempotentRequest("acme", None, "k", "/x", b"{}")
    started, names = asyncio.Event(), []

    async def forever(request_id: str) -> bytes:
        names.append(request_id)
        started.set()
        await asyncio.Event().wait()
        return b""

    async def at_once(request_id: str) -> bytes:
        names.append(request_id)
        return b"done"

    hanging = asyncio.create_task(idempotency.once(idempotent_request, forever))
    await started.wait()
    with pytest.raises(Conflict, match="being worked on"):
        await idempotency.once(idempotent_request, at_once)
    now[0] += LEASE_MS
    assert await idempotency.once(idempotent_request, at_once) == b"done"
    assert names[0] == names[1]
    hanging.cancel()
    await asyncio.gather(hanging, return_exceptions=True)
    assert await idempotency.once(idempotent_request, at_once) == b"done"
    assert len(names) == 2


async def test_a_long_request_is_executed_once(kept: Rest) -> None:
    """The key is renewed while the request runs: a large file takes more than a minute."""
    now, goes_on = [1_000_000], asyncio.Event()
    database = kept.services.database
    idempotency = Idempotency(database, lambda: now[0], "secret", CIPHER, renew_interval_s=0.01)
    idempotent_request = IdempotentRequest("acme", None, "k", "/x", b"{}")
    done: list[str] = []

    async def long(request_id: str) -> bytes:
        done.append(request_id)
        await goes_on.wait()
        return b"made"

    async def is_held() -> bool:
        async with database.reading() as connection:
            return bool((await connection.execute(select(responses.c.since_ms))).scalar() == now[0])

    working = asyncio.create_task(idempotency.once(idempotent_request, long))
    for _ in range(3):
        await until(is_held)
        now[0] += LEASE_MS - 1
        with pytest.raises(Conflict, match="being worked on"):
            await Idempotency(database, lambda: now[0], "secret", CIPHER).once(
                idempotent_request, long
            )
    goes_on.set()
    assert await working == b"made"
    assert await idempotency.once(idempotent_request, long) == b"made"
    assert len(done) == 1


async def test_a_failed_request_may_be_retried(kept: Rest) -> None:
    """Failures are not stored; stored responses expire after a day."""
    kept.scene.store.down = True
    assert (await kept.request("POST", CALL, BODY, headers=KEY)).status_code == 503
    kept.scene.store.down = False
    assert (await kept.request("POST", CALL, BODY, headers=KEY)).status_code == 201
    await Idempotency(
        kept.services.database, lambda: kept.services.now_ms() + 86_400_000, "secret", CIPHER
    ).delete_expired()
    assert (await kept.request("POST", CALL, {**BODY, "timeout": 9}, headers=KEY)).status_code in {
        201,
        409,
    }
