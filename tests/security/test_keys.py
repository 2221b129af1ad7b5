"""API keys and tokens: networks, expiry, last use, secrets that rotate, guesses."""

import asyncio
from pathlib import Path

import pytest
from pydantic import SecretStr

from api.auth.key_store import (
    USE_INTERVAL_MS,
    KeyStore,
    KeyTerms,
    generate_credentials,
    parse_key_id,
)
from api.auth.throttle import MAX_FAILURES
from api.auth.tokens import AccessTokens
from api.common.errors import Conflict
from api.config import Settings
from tests.harness.api.databases import sqlite_url
from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.rpc.scene import RpcScene

PATH = "/srmain/voice/call-details/0-pbx1-00000000"
TOKENS = "/auth/get-access-token/acme"


async def status_with(rest: Rest, token: str) -> int:
    """Return the status of a request about a call that does not exist."""
    return (await rest.request("GET", PATH, token=token)).status_code


async def new_key(rest: Rest, terms: KeyTerms) -> str:
    """Create a key of acme, and return it."""
    given = generate_credentials()
    await KeyStore(rest.services.database, rest.services.now_ms).add("acme", given, terms)
    return given.api_key


@pytest.mark.parametrize(
    ("networks", "status"),
    [
        ((), 404),
        (("127.0.0.0/8",), 404),
        (("192.0.2.0/24", "127.0.0.1/32"), 404),
        (("192.0.2.0/24",), 401),
        (("2001:db8::/32",), 401),
    ],
)
async def test_a_key_may_be_used_from_its_networks(
    rest: Rest, networks: tuple[str, ...], status: int
) -> None:
    """From others it is as unknown as any."""
    assert await status_with(rest, await new_key(rest, KeyTerms(networks=networks))) == status


async def test_a_key_expires(scene: RpcScene, tmp_path: Path) -> None:
    """At the time that it was created for."""
    clock = ManualClock()
    settings = settings_for(sqlite_url(tmp_path), scene.url)
    async with run_rest(settings, scene, clock) as rest:
        key = await new_key(rest, KeyTerms(expires_ms=clock.now + 60_000))
        assert await status_with(rest, key) == 404
        clock.now += 60_000
        assert await status_with(rest, key) == 401


async def test_a_revoked_key_stays_revoked(scene: RpcScene, tmp_path: Path) -> None:
    """Neither its rotation nor a later expiry makes it valid again."""
    clock = ManualClock()
    async with run_rest(settings_for(sqlite_url(tmp_path), scene.url), scene, clock) as rest:
        store = KeyStore(rest.services.database, clock)
        key = await new_key(rest, KeyTerms())
        key_id = parse_key_id(key)
        assert key_id is not None
        await store.expire("acme", key_id, clock.now)
        with pytest.raises(Conflict, match="has expired or was revoked"):
            await store.rotate("acme", key_id, generate_credentials(), 600_000)
        await store.expire("acme", key_id, clock.now + 600_000)
        assert await status_with(rest, key) == 401


async def test_a_rotated_key_lives_no_longer_than_before(scene: RpcScene, tmp_path: Path) -> None:
    """The overlap does not extend it, and its replacement expires when it would have."""
    clock = ManualClock()
    async with run_rest(settings_for(sqlite_url(tmp_path), scene.url), scene, clock) as rest:
        store = KeyStore(rest.services.database, clock)
        expires_ms = clock.now + 60_000
        key_id = parse_key_id(await new_key(rest, KeyTerms(expires_ms=expires_ms)))
        assert key_id is not None
        replacement = generate_credentials()
        await store.rotate("acme", key_id, replacement, 600_000)
        for each in (key_id, parse_key_id(replacement.api_key) or ""):
            found = await store.get(each)
            assert found is not None
            assert found.expires_ms == expires_ms


async def test_the_last_use_of_a_key_is_stored(scene: RpcScene, tmp_path: Path) -> None:
    """Once a minute, also when its tokens are used."""
    clock = ManualClock()
    settings = settings_for(sqlite_url(tmp_path), scene.url)
    async with run_rest(settings, scene, clock) as rest:
        store = KeyStore(rest.services.database, clock)

        async def last_uses() -> set[int | None]:
            return {each.last_used_ms for each in await store.all("acme")}

        assert await last_uses() == {None}
        await status_with(rest, rest.token)
        began_ms = clock.now
        clock.now += USE_INTERVAL_MS - 1
        await status_with(rest, rest.token)
        assert await last_uses() == {None, began_ms}
        clock.now += 1
        await status_with(rest, rest.token)
        assert await last_uses() == {None, clock.now}


async def test_a_key_alone_is_no_token_by_default(scene: RpcScene, tmp_path: Path) -> None:
    """Only a token authenticates, which needs the secret, too."""
    default = Settings.model_fields["keys_as_tokens"].default
    settings = settings_for(sqlite_url(tmp_path), scene.url, keys_as_tokens=default)
    async with run_rest(settings, scene) as rest:
        key = rest.credentials["acme"].api_key
        refused = await rest.request("GET", "/srmain/cdr/x", token=key)
        assert refused.status_code == 401
        assert "POST /auth/get-access-token" in refused.json()["errors"][0]["message"]
        assert await status_with(rest, rest.token) == 404


@pytest.mark.parametrize(("old", "status"), [(("o" * 32,), 404), ((), 401)])
async def test_secrets_of_tokens_rotate(
    scene: RpcScene, tmp_path: Path, old: tuple[str, ...], status: int
) -> None:
    """A token of the old secret is valid as long as the old secret is in the settings."""
    secrets = tuple(map(SecretStr, old))
    settings = settings_for(sqlite_url(tmp_path), scene.url, old_token_secrets=secrets)
    async with run_rest(settings, scene) as rest:
        tokens = AccessTokens(["o" * 32], 3_600, rest.services.now_ms)
        key_id = parse_key_id(rest.credentials["acme"].api_key) or ""
        assert await status_with(rest, tokens.issue(key_id, "acme", None)) == status


async def test_guesses_lock_nobody_out(rest: Rest) -> None:
    """Of 200 at once ten get 401, the others 429; valid keys of the same address work."""
    good = rest.credentials["acme"]
    wrong = {"apiKey": good.api_key, "apiSecret": "x" * 43}
    answers = await asyncio.gather(*(rest.request("POST", TOKENS, wrong) for _ in range(200)))
    statuses = sorted(each.status_code for each in answers)
    assert statuses == [401] * MAX_FAILURES + [429] * (200 - MAX_FAILURES)
    assert await rest.token_of("acme")
    assert await rest.token_of("1001")
    assert await status_with(rest, good.api_key) == 404
