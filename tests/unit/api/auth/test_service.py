"""Authentication units: hashes, tokens, throttle, caches."""

import asyncio

import jwt
import pytest

from api.auth.hashing import hash_secret, verify_secret
from api.auth.store import generate_credentials, parse_key_id
from api.auth.throttle import MAX_FAILURES, MAX_WAITING, WINDOW_MS, Throttle
from api.auth.tokens import AccessTokens
from api.common.bounded_dict import BoundedDict
from api.common.errors import TooManyRequests, Unauthenticated

SECRET = "s" * 32
CHEAP = 4


def test_a_hash_knows_its_secret_only() -> None:
    """Each hash of a secret has another salt; it contains the cost."""
    first, second = hash_secret("secret", CHEAP), hash_secret("secret", CHEAP)
    assert first != second
    assert verify_secret("secret", first)
    assert verify_secret("secret", second)
    assert not verify_secret("Secret", first)
    assert "secret" not in first


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
    tokens = AccessTokens(SECRET, 60, lambda: now[0])
    token = tokens.issue("key", "acme", "1001")
    claims = tokens.verify(token)
    assert claims is not None
    assert (claims["key"], claims["sub"], claims["agent"]) == ("key", "acme", "1001")
    assert AccessTokens("t" * 32, 60, lambda: now[0]).verify(token) is None
    now[0] += 60_000
    assert tokens.verify(token) is None


@pytest.mark.parametrize("missing", ["exp", "sub", "key", "iss"])
def test_a_token_needs_all_claims(missing: str) -> None:
    """A token with a missing claim is invalid."""
    claims = {"iss": "switchroom", "sub": "acme", "key": "k", "exp": 9_999_999_999}
    del claims[missing]
    token = jwt.encode(claims, SECRET)
    assert AccessTokens(SECRET, 60, lambda: 0).verify(token) is None


def test_too_many_failures_wait_for_the_end_of_the_window() -> None:
    """Other clients do not."""
    now = [0]
    throttle = Throttle(lambda: now[0])
    for _ in range(MAX_FAILURES):
        throttle.check("a")
        throttle.record_failure("a")
    with pytest.raises(TooManyRequests) as refused:
        throttle.check("a")
    assert refused.value.retry_after_s == WINDOW_MS / 1_000
    throttle.check("b")
    now[0] += WINDOW_MS
    throttle.check("a")


def test_the_oldest_entry_is_dropped_first() -> None:
    """The dictionary has a size limit."""
    remembered: BoundedDict[int, int] = BoundedDict(max_entries=2)
    for each in (1, 2, 1, 3):
        remembered.put(each, each)
    assert [remembered.get(each) for each in (1, 2, 3)] == [1, None, 3]


async def test_a_failing_client_is_slowed_down() -> None:
    """Its attempts wait for one another, and of too many at once the last are rejected."""
    now = [0]
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        await asyncio.sleep(0)

    throttle = Throttle(lambda: now[0], sleep)
    for _ in range(MAX_FAILURES):
        async with throttle.paced("x"):
            throttle.record_failure("x")
    assert waits == []

    async def attempt() -> bool:
        try:
            async with throttle.paced("x"):
                return True
        except Unauthenticated:
            return False

    assert await asyncio.gather(*(attempt() for _ in range(MAX_WAITING + 1))) == [
        *[True] * MAX_WAITING,
        False,
    ]
    assert waits == [1, 2, 3, 4, 5]
    async with throttle.paced("another"):
        pass
    now[0] += WINDOW_MS
    assert await attempt()
    assert len(waits) == MAX_WAITING
