"""Who a key authenticates: from where, and how long what is known of it is used."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from api.auth.key_store import (
    USE_INTERVAL_MS,
    ApiKey,
    KeyStore,
    generate_credentials,
    hash_secret,
    parse_key_id,
)
from api.auth.service import PROOF_CACHE_MS, Authenticator
from api.auth.tokens import AccessTokens
from api.common.errors import Unauthenticated

GIVEN = generate_credentials()
ADDRESS = "192.0.2.1"
KEY = ApiKey(
    parse_key_id(GIVEN.api_key) or "",
    "acme",
    None,
    hash_secret(GIVEN.api_key),
    hash_secret(GIVEN.api_secret),
    0,
    None,
    ("owner",),
    (),
    None,
    is_account_active=True,
)


class OneKey(KeyStore):
    """A store of one key, and a clock that the test sets."""

    def __init__(self, key: ApiKey = KEY) -> None:
        self.key = key
        self.now_ms = 0
        self.uses = 0
        tokens = AccessTokens(["s" * 32], 3_600, lambda: self.now_ms)
        self._authenticator = Authenticator(self, tokens, lambda: self.now_ms)

    async def get(self, key_id: str) -> ApiKey | None:
        return self.key if key_id == self.key.id else None

    async def record_use(self, key_id: str) -> None:
        assert key_id == self.key.id
        self.key = replace(self.key, last_used_ms=self.now_ms)
        self.uses += 1

    async def is_authenticated(self, address: str = ADDRESS) -> bool:
        """Return whether the key is accepted."""
        try:
            principal = await self._authenticator.authenticate(GIVEN.api_key, address)
        except Unauthenticated:
            return False
        return principal.account_id == "acme"


@pytest.mark.parametrize(
    ("networks", "address", "is_accepted"),
    [
        ((), "a-test-client", True),
        (("192.0.2.0/24",), ADDRESS, True),
        (("198.51.100.0/24", "192.0.2.0/24"), ADDRESS, True),
        (("198.51.100.0/24",), ADDRESS, False),
        (("192.0.2.0/24",), "a-test-client", False),
        (("192.0.2.0/24",), "", False),
    ],
)
async def test_from_where_a_key_is_accepted(
    networks: Sequence[str], address: str, *, is_accepted: bool
) -> None:
    """A client whose address is not known is in no network."""
    store = OneKey(replace(KEY, networks=tuple(networks)))
    assert await store.is_authenticated(address) is is_accepted


async def test_a_proof_is_used_for_five_minutes() -> None:
    """Then the key is compared again."""
    store = OneKey()
    assert await store.is_authenticated()
    store.key = replace(KEY, key_hash=hash_secret("another"))
    store.now_ms = PROOF_CACHE_MS - 1
    assert await store.is_authenticated()
    store.now_ms = PROOF_CACHE_MS
    assert not await store.is_authenticated()


async def test_a_use_is_stored_once_in_a_while() -> None:
    """Not with each request."""
    store = OneKey()
    for now_ms in (0, 1, USE_INTERVAL_MS - 1, USE_INTERVAL_MS, USE_INTERVAL_MS + 1):
        store.now_ms = now_ms
        assert await store.is_authenticated()
    assert store.uses == 2
