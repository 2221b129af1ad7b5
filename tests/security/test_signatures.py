"""Each account's requests are signed with its own secret, which no other account can compute."""

import base64
import os
import time
from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession, web
from msgspec.json import encode
from standardwebhooks import Webhook, WebhookVerificationError

from engine.callbacks.account_secrets import AccountSecrets
from engine.callbacks.account_settings import AccountSettings
from engine.runtime.io.custom_http_requests import ApiRequestRunner
from engine.store.errors import StoreDown
from engine.store.memory.outbox import MemoryOutbox
from engine.store.memory.store import MemoryStore
from engine.store.memory.versioned_documents import MemoryVersionedDocuments
from engine.store.outbox import OutboxLimits
from engine.webhooks.action_client import ActionClient
from engine.webhooks.address_guard import guarded_session
from engine.webhooks.api_sender import ApiSender
from engine.webhooks.errors import WebhookFailed
from tests.contract.rpc.harness.bench import Bench
from tests.contract.webhooks.customer import HANGUP, LOOPBACK, Server
from tests.sim.graphs import API
from wire.request import ApiRequest
from wire.tree import Limits

KEY = b"k" * 32
ACCOUNTS = ("acme", "other")


class Scene:
    """Settings of accounts in a store that a test may replace."""

    def __init__(self, key: bytes | None = KEY) -> None:
        self.key = key
        self.now_ms = 1_000_000
        self.lose_data()

    def lose_data(self) -> None:
        """Begin with an empty store and a new engine."""
        self.store = MemoryStore()
        secrets = AccountSecrets(self.key, os.urandom)
        self.settings = AccountSettings(self.store.outbox, lambda: self.now_ms, secrets)

    async def first_secret(self, account: str) -> str:
        """Sign for an account, and return the secret that its customer then gets."""
        await self.settings.signer(account)
        found = await self.settings.settings(account)
        assert found is not None
        return found.secret


@pytest.fixture
async def session() -> AsyncIterator[ClientSession]:
    """Provide a session that may connect to this machine."""
    async with guarded_session(LOOPBACK) as opened:
        yield opened


def is_signed(request: tuple[dict[str, str], bytes], secret: str) -> bool:
    """Verify a request with the standard's library."""
    headers, body = request
    try:
        Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return False
    return True


async def test_webhooks_are_signed_with_the_accounts_secret(session: ClientSession) -> None:
    """Action webhooks and API requests; another account's secret verifies neither."""
    scene, server = Scene(), Server(web.Response(text=HANGUP))
    own, foreign = [await scene.first_secret(each) for each in ACCOUNTS]
    signer_of = scene.settings.webhook_signer
    async with server.open() as url:
        client = ActionClient(
            session, Limits(allow_insecure=True), signer_of, time.time, lambda: 0.5
        )
        await client.ask("acme", url, b'{"callId":"c1"}', "c1.r0")
        sender = ApiSender(session, time.time, lambda: 0.5)
        api_requests = ApiRequestRunner(scene.store, sender, signer_of)
        request = ApiRequest(url, "POST", json={"n": 1})
        await scene.store.put_request("acme", API, encode(request))
        await api_requests.ask("acme", API, lambda _name: None, "c1.r1")
    assert [is_signed(each, own) for each in server.requests] == [True, True]
    assert [is_signed(each, foreign) for each in server.requests] == [False, False]


async def test_a_rotation_concerns_webhooks() -> None:
    """Both secrets sign for a day, for whatever is sent."""
    scene = Scene()
    first = await scene.first_secret("acme")
    second = (await scene.settings.rotate_secret("acme")).secret
    headers = (await scene.settings.webhook_signer("acme")).headers("c1.r0", time.time(), b"{}")
    assert is_signed((headers, b"{}"), first)
    assert is_signed((headers, b"{}"), second)


async def test_secrets_survive_the_loss_of_the_store() -> None:
    """The first one signs again; a rotated one returns after as many rotations."""
    scene = Scene()
    first = await scene.first_secret("acme")
    rotated = [(await scene.settings.rotate_secret("acme")).secret for _ in range(2)]
    scene.lose_data()
    assert await scene.first_secret("acme") == first
    assert [(await scene.settings.rotate_secret("acme")).secret for _ in range(2)] == rotated
    secrets = {first, *rotated, await scene.first_secret("other")}
    assert len(secrets) == 4
    assert base64.b64encode(KEY).decode() not in "".join(secrets)


async def test_secrets_are_random_without_a_key() -> None:
    """Two stores have two secrets for one account."""
    scene = Scene(key=None)
    first = await scene.first_secret("acme")
    scene.lose_data()
    assert await scene.first_secret("acme") != first


async def test_a_deleted_secret_never_signs_again() -> None:
    """The next secret of the account has the next number."""
    scene = Scene()
    deleted = (await scene.settings.rotate_secret("acme")).secret
    assert await scene.settings.remove("acme")
    assert not await scene.settings.remove("acme")
    headers = (await scene.settings.signer("acme")).headers("c1.r0", time.time(), b"{}")
    assert not is_signed((headers, b"{}"), deleted)


class BreakableOutbox(MemoryOutbox):
    """An outbox whose settings of accounts cannot be read while it is down."""

    is_down = False

    async def account(self, account: str) -> bytes | None:
        """Read, or fail."""
        if self.is_down:
            raise StoreDown("server:6379: gone")
        return await super().account(account)


async def test_calls_go_on_while_the_store_is_down() -> None:
    """What was read last signs; an account that was never read has a failure with a reason."""
    scene = Scene()
    outbox = BreakableOutbox(
        lambda: 0,
        lambda _slot, _token: None,
        OutboxLimits(),
        MemoryVersionedDocuments(lambda: 0),
    )
    scene.settings = AccountSettings(outbox, lambda: scene.now_ms, AccountSecrets(KEY, os.urandom))
    secret = await scene.first_secret("acme")
    outbox.is_down = True
    scene.now_ms += 3_600_000
    headers = (await scene.settings.webhook_signer("acme")).headers("c1.r0", time.time(), b"{}")
    assert is_signed((headers, b"{}"), secret)
    with pytest.raises(WebhookFailed) as failed:
        await scene.settings.webhook_signer("other")
    assert failed.value.reason == "store_down"


async def test_a_secret_made_by_a_webhook_is_shown_later(bench: Bench) -> None:
    """It is not among the settings until the account gets it by `set` or `rotate`."""
    await bench.accounts.signer("acme")
    assert await bench.problem("GET", "/callbacks/acme") == (404, "not_found")
    assert await bench.problem("DELETE", "/callbacks/acme") == (404, "not_found")
    _, first = await bench.request("PUT", "/callbacks/acme", {})
    _, again = await bench.request("PUT", "/callbacks/acme", {})
    assert first["secret"].startswith("whsec_")
    assert "secret" not in again
    await bench.accounts.signer("other")
    status, rotated = await bench.request("POST", "/callbacks/other/rotate")
    assert (status, rotated["secretNumber"]) == (200, 1)
    _, unknown = await bench.request("POST", "/callbacks/third/rotate")
    assert "previousUntilMs" not in unknown
