"""Authentication by tokens and keys, until they expire."""

import asyncio

import jwt
import pytest

from api.auth.key_store import Credentials, KeyStore, generate_credentials, parse_key_id
from api.auth.throttle import MAX_FAILURES
from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.rest import SECRET, Rest, run_rest, settings_for
from tests.harness.rpc.scene import RpcScene

PATH = "/srmain/voice/call-details/0-pbx1-00000000"
DENIED: tuple[int, str, list[str]] = (401, "unauthenticated", [])


async def is_let_in(rest: Rest, token: str) -> bool:
    """Return whether a header's value authenticates; the resource does not exist."""
    return (await rest.request("GET", PATH, token=token)).status_code == 404


async def test_a_token_lasts_an_hour_and_needs_no_prefix(rest: Rest) -> None:
    """The response has the lifetime; `Bearer ` is optional; the token is a JWT."""
    given = rest.credentials["acme"]
    body = {"apiKey": given.api_key, "apiSecret": given.api_secret}
    answer = (await rest.client.post("/auth/get-access-token/acme", json=body)).json()
    token = answer["accessToken"]
    assert answer["expiresIn"] == 3_600
    claims = jwt.decode(token, SECRET, ["HS256"], audience="switchroom")
    assert claims["sub"] == "acme"
    assert claims["exp"] - claims["iat"] == 3_600
    for value in (token, f"Bearer {token}", f"bearer {token}", given.api_key):
        assert await is_let_in(rest, value)


@pytest.mark.parametrize(
    "token",
    [
        "",
        "Bearer",
        "Bearer ",
        "nonsense",
        "swk_000000000000_0000000000000000000000000000000000000000000",
        jwt.encode({"sub": "acme", "key": "x", "exp": 9_999_999_999}, "another" * 8),
        jwt.encode({"sub": "acme", "key": "x", "exp": 9_999_999_999}, "", "none"),
        "\xff\xfe",
    ],
)
async def test_unauthenticated_requests_get_401(rest: Rest, token: str) -> None:
    """The detail is 'User not authenticated', on every path but the token's."""
    headers = [(b"authorization", token.encode("latin-1"))]
    answer = await rest.client.get(PATH, headers=headers)
    assert (answer.status_code, answer.json()["detail"]) == (401, "User not authenticated")
    assert answer.headers["www-authenticate"] == "Bearer"
    nonsense = {"token": "nonsense"}
    assert (await rest.rejected("POST", "/srmain/voice/call", {}, **nonsense)) == DENIED


@pytest.mark.parametrize(
    "header", ["Basic c2lkOnRva2Vu", "basic", "Token abc", "swk_1:secret", "Bearer", "Digest a=b"]
)
async def test_another_form_of_the_header_is_explained(rest: Rest, header: str) -> None:
    """A client of another service sends `curl -u`: the detail stays, an error says what to send."""
    answer = await rest.client.get(PATH, headers={"Authorization": header})
    problem = answer.json()
    assert (answer.status_code, problem["detail"]) == (401, "User not authenticated")
    (error,) = problem["errors"]
    assert (error["path"], error["code"]) == ("Authorization", "unauthenticated")
    assert error["message"].startswith("expected an access token or an apiKey")


async def test_credentials_are_all_checked(rest: Rest) -> None:
    """A wrong account, key or secret gets the same response."""
    good, other = rest.credentials["acme"], rest.credentials["other"]
    for account, key, secret in (
        ("other", good.api_key, good.api_secret),
        ("acme", good.api_key, other.api_secret),
        ("acme", other.api_key, other.api_secret),
        ("acme", generate_credentials().api_key, good.api_secret),
        ("nobody", good.api_key, good.api_secret),
    ):
        body = {"apiKey": key, "apiSecret": secret}
        assert await rest.rejected("POST", f"/auth/get-access-token/{account}", body) == DENIED


async def test_agent_keys_and_account_keys(rest: Rest) -> None:
    """An agent's key issues tokens of that agent only; an account's key those of any agent."""
    for token, agent in (
        (await rest.token_of("1001"), "1001"),
        (await rest.token_of("acme", agentId="1002"), "1002"),
        (await rest.token_of("acme"), None),
    ):
        assert jwt.decode(token, SECRET, ["HS256"], audience="switchroom").get("agent") == agent
    given = rest.credentials["1001"]
    body = {"apiKey": given.api_key, "apiSecret": given.api_secret, "agentId": "1002"}
    refused = await rest.rejected("POST", "/auth/get-access-token/acme", body)
    assert (refused[0], refused[2]) == (400, ["agentId"])


async def test_a_revoked_key_revokes_its_tokens(scene: RpcScene, database_url: str) -> None:
    """Key and tokens stop working within two seconds; another key still works."""
    clock = ManualClock()
    async with run_rest(settings_for(database_url, scene.url), scene, clock) as rest:
        keys = KeyStore(rest.services.database, clock)
        old, other = rest.credentials["acme"], await rest.token_of("1001")
        new = await _added(keys, "acme")
        assert await is_let_in(rest, rest.token)
        listed = [each.id for each in await keys.all("acme")]
        assert listed == sorted(listed)  # both of the same moment
        known = parse_key_id(old.api_key)
        assert known is not None
        assert known in listed
        await keys.expire("acme", known, clock())
        clock.now += 2_000
        for value in (rest.token, old.api_key):
            assert not await is_let_in(rest, value)
        for value in (other, new.api_key):
            assert await is_let_in(rest, value)


async def test_a_token_expires(scene: RpcScene, database_url: str) -> None:
    """It stops working after an hour, even in a process that has it cached."""
    clock = ManualClock()
    async with run_rest(settings_for(database_url, scene.url), scene, clock) as rest:
        assert await is_let_in(rest, rest.token)
        clock.now += 3_600_000
        assert not await is_let_in(rest, rest.token)


async def test_guessing_is_throttled(rest: Rest) -> None:
    """Requests for tokens: 429 with Retry-After after ten failures, not for other clients."""
    good = rest.credentials["acme"]
    wrong = {"apiKey": good.api_key, "apiSecret": "wrong"}
    path = "/auth/get-access-token/acme"
    for _ in range(MAX_FAILURES):
        assert await rest.rejected("POST", path, wrong) == DENIED
    answer = await rest.request("POST", path, wrong)
    assert answer.status_code == 429
    assert 0 < int(answer.headers["retry-after"]) <= 60
    assert await is_let_in(rest, rest.token)
    assert await rest.token_of("1001")


async def test_invalid_tokens_are_never_429(rest: Rest) -> None:
    """Expired, foreign and meaningless ones are 401 however often; valid clients are served."""
    given = rest.credentials["acme"]
    expired = jwt.encode(
        {"sub": "acme", "key": "x", "exp": 1, "iss": "x"}, SECRET, algorithm="HS256"
    )
    unknown = generate_credentials().api_key
    for token in [expired, "nonsense", unknown] * (MAX_FAILURES + 2):
        assert (await rest.rejected("GET", PATH, token=token)) == DENIED
    wrong = given.api_key[:-1] + ("0" if given.api_key[-1] != "0" else "1")
    for _ in range(MAX_FAILURES):
        assert (await rest.rejected("GET", PATH, token=wrong)) == DENIED
    assert await is_let_in(rest, given.api_key)
    assert await rest.token_of("acme")


@pytest.mark.parametrize("path", ["/auth/get-access-token/acme", "/console/session"])
async def test_a_valid_pair_waits_for_no_stranger(
    scene: RpcScene, database_url: str, path: str
) -> None:
    """A stranger without a pair, or with a wrong one, waits for seconds meanwhile."""
    settings = settings_for(database_url, scene.url, api_stranger_requests_per_s=0.01)
    async with run_rest(settings, scene) as rest:
        given = rest.credentials["acme"]
        pair = {"apiKey": given.api_key, "apiSecret": given.api_secret}
        await rest.client.post(path, json={})
        wrong = rest.client.post(path, json=pair | {"apiSecret": "wrong"})
        refused = asyncio.create_task(wrong)
        for _ in range(3):
            assert (await rest.client.post(path, json=pair)).is_success
        assert not refused.done()
        refused.cancel()


async def test_a_disabled_account_is_not_authenticated(rest: Rest) -> None:
    """Its keys and tokens stop working."""
    await rest.services.accounts.set_active("acme", False)
    given = rest.credentials["1001"]
    body = {"apiKey": given.api_key, "apiSecret": given.api_secret}
    assert await rest.rejected("POST", "/auth/get-access-token/acme", body) == DENIED


async def test_no_secret_is_stored_in_plain_text(rest: Rest) -> None:
    """Neither key nor secret is in the database."""
    for key in await KeyStore(rest.services.database, rest.services.now_ms).all("acme"):
        for given in rest.credentials.values():
            assert given.api_secret not in key.secret_hash
            assert given.api_key.split("_", 2)[2] not in key.key_hash


async def _added(keys: KeyStore, account: str) -> Credentials:
    given = generate_credentials()
    await keys.add(account, given)
    return given
