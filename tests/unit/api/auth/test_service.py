"""Authentication units: hashes, tokens, throttle, caches."""

import asyncio

import jwt
import pytest

from api.auth.key_store import (
    generate_credentials,
    hash_secret,
    parse_key_id,
    verify_secret,
)
from api.auth.throttle import (
    MAX_FAILURES,
    MAX_LOOKUPS,
    MAX_WAITING,
    WINDOW_MS,
    Throttle,
    network_of,
)
from api.auth.tokens import AccessTokens
from api.common.bounded_dict import BoundedDict
from api.common.errors import ServiceUnavailable, TooManyRequests, Unauthenticated

SECRET = "s" * 32
NEVER_MS = 9_999_999_999


def test_a_hash_knows_its_secret_only() -> None:
    """It does not contain the secret."""
    stored = hash_secret("secret")
    assert verify_secret("secret", stored)
    assert not verify_secret("Secret", stored)
    assert "secret" not in stored


def test_keys_reveal_only_their_id() -> None:
    """A malformed key has no id."""
    given = generate_credentials()
    assert given.api_key.startswith(f"swk_{parse_key_id(given.api_key)}_")
    assert generate_credentials() != given
    for text in ("", "swk_", given.api_secret, given.api_key + "\n", f" {given.api_key}"):
        assert parse_key_id(text) is None


def test_a_token_is_valid_until_it_expires() -> None:
    """It is valid until its expiry, and only with the right secret."""
    now = [1_000_000_000_000]
    tokens = AccessTokens([SECRET], 60, lambda: now[0])
    token = tokens.issue("key", "acme", "1001")
    claims = tokens.verify(token)
    assert claims is not None
    assert (claims["key"], claims["sub"], claims["agent"]) == ("key", "acme", "1001")
    assert AccessTokens(["t" * 32], 60, lambda: now[0]).verify(token) is None
    now[0] += 60_000
    assert tokens.verify(token) is None


def test_secrets_of_tokens_rotate() -> None:
    """The first one signs; tokens of the others are accepted; `kid` tells them apart."""
    old = AccessTokens([SECRET], 60, lambda: 0)
    rotated = AccessTokens(["t" * 32, SECRET], 60, lambda: 0)
    token, new = old.issue("key", "acme", None), rotated.issue("key", "acme", None)
    assert rotated.verify(token)
    assert rotated.verify(new)
    assert old.verify(new) is None
    kids = [jwt.get_unverified_header(each)["kid"] for each in (token, new)]
    assert kids[0] != kids[1]
    assert not any(each in SECRET for each in kids)


@pytest.mark.parametrize("missing", ["exp", "sub", "key", "iss", "aud", "kid"])
def test_a_token_needs_all_claims(missing: str) -> None:
    """A token with a missing claim is invalid."""
    tokens = AccessTokens([SECRET], 60, lambda: 0)
    kid = jwt.get_unverified_header(tokens.issue("k", "acme", None))["kid"]
    every = {"iss": "switchroom", "aud": "switchroom", "sub": "acme", "key": "k", "exp": NEVER_MS}
    headers = {"kid": kid} if missing != "kid" else {}
    claims = {name: value for name, value in every.items() if name != missing}
    assert tokens.verify(jwt.encode(claims, SECRET, headers=headers)) is None
    assert tokens.verify(jwt.encode(every, SECRET, headers={"kid": kid}))


@pytest.mark.parametrize("claim", ["iss", "aud"])
def test_a_token_for_another_service_is_invalid(claim: str) -> None:
    tokens = AccessTokens([SECRET], 60, lambda: 0)
    kid = jwt.get_unverified_header(tokens.issue("k", "acme", None))["kid"]
    every = {"iss": "switchroom", "aud": "switchroom", "sub": "acme", "key": "k", "exp": NEVER_MS}
    foreign = jwt.encode({**every, claim: "billing"}, SECRET, headers={"kid": kid})
    assert tokens.verify(foreign) is None


def test_too_many_failures_wait_for_the_end_of_the_window() -> None:
    """Of 200 wrong requests ten are told so; other networks are not affected."""
    now = [0]
    throttle = Throttle(lambda: now[0])
    refusals = [throttle.refuse("192.0.2.1") for _ in range(200)]
    assert [type(each) for each in refusals] == [
        *[Unauthenticated] * MAX_FAILURES,
        *[TooManyRequests] * (200 - MAX_FAILURES),
    ]
    assert refusals[-1].retry_after_s == WINDOW_MS / 1_000
    assert isinstance(throttle.refuse("192.0.2.2"), Unauthenticated)
    now[0] += WINDOW_MS
    assert isinstance(throttle.refuse("192.0.2.1"), Unauthenticated)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("testclient", "testclient"),
    ],
)
def test_what_counts_as_one_network(address: str, network: str) -> None:
    """A customer has a whole /64 of IPv6."""
    assert network_of(address) == network


def test_the_oldest_entry_is_dropped_first() -> None:
    """The dictionary has a size limit."""
    remembered: BoundedDict[int, int] = BoundedDict(max_entries=2)
    for each in (1, 2, 1, 3):
        remembered.put(each, each)
    assert [remembered.get(each) for each in (1, 2, 3)] == [1, None, 3]


async def test_a_failing_network_looks_few_keys_up_at_once() -> None:
    """Some more wait, and further ones are rejected; other networks do not wait."""
    throttle = Throttle(lambda: 0)
    for _ in range(MAX_FAILURES):
        throttle.record_failure("192.0.2.1")
    finish = asyncio.Event()
    running = [0]

    async def attempt() -> bool:
        try:
            async with throttle.lookup("192.0.2.1"):
                running[0] += 1
                await finish.wait()
        except ServiceUnavailable:
            return False
        return True

    attempts = [asyncio.create_task(attempt()) for _ in range(MAX_LOOKUPS + MAX_WAITING + 1)]
    assert not await attempts[-1]
    assert running == [MAX_LOOKUPS]
    async with throttle.lookup("192.0.2.2"):
        pass
    finish.set()
    results = await asyncio.gather(*attempts)
    assert results == [*[True] * (MAX_LOOKUPS + MAX_WAITING), False]
    assert await attempt()
