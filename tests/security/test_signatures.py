"""Each account's requests are signed with its own secret, which no other account can compute."""

import base64
import time
from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession, web
from msgspec.json import encode
from standardwebhooks import Webhook, WebhookVerificationError

from base.address_guard import guarded_session
from engine.callbacks.account_settings import AccountSettings
from engine.callbacks.settings_changes import AccountSecrets
from engine.runtime.io.custom_http_requests import ApiRequestRunner
from engine.store.callback_queue import CallbackQueueLimits
from engine.store.errors import StoreDown
from engine.webhooks.action_client import ActionClient
from engine.webhooks.api_sender import ApiSender
from engine.webhooks.errors import WebhookFailed
from tests.harness.callbacks.settings import SettingsWriter
from tests.harness.customers.signatures import verified
from tests.harness.memory_store.callback_queue import MemoryCallbackQueue
from tests.harness.memory_store.store import MemoryStore
from tests.harness.rpc.scene import RpcScene
from tests.harness.scenarios.graphs import API
from tests.harness.store.documents import put_request
from tests.harness.webhooks.customer import HANGUP, LOOPBACK, Server
from wire.callbacks.account import PutCallback
from wire.request import ApiRequest
from wire.tree import Limits

KEY = b"k" * 32
ACCOUNTS = ("acme", "other")
URL = "https://example.com/answer"


class SignatureScene:
    """Settings of accounts in a store that a test may replace."""

    def __init__(self, key: bytes = KEY) -> None:
        self.key = key
        self.now_ms = 1_000_000
        self.lose_data()

    def lose_data(self) -> None:
        """Begin with an empty store and a new engine."""
        self.store = MemoryStore()
        secrets = AccountSecrets(self.key)
        self.settings = AccountSettings(self.store.callback_queue, lambda: self.now_ms, secrets)
        self.writer = SettingsWriter(self.store, self.settings)

    async def first_secret(self, account: str) -> str:
        """Return the secret that a customer gets first."""
        return (await self.writer.put(account, PutCallback())).secret


@pytest.fixture
async def session() -> AsyncIterator[ClientSession]:
    """Provide a session that may connect to this machine."""
    async with guarded_session(LOOPBACK) as opened:
        yield opened


def is_signed(request: tuple[dict[str, str], bytes], secret: str, url: str = URL) -> bool:
    """Verify a request to an address with the standard's library."""
    headers, body = request
    try:
        verified(secret, body, headers, url)
    except WebhookVerificationError:
        return False
    return True


async def test_webhooks_are_signed_with_the_accounts_secret(session: ClientSession) -> None:
    """Action webhooks and API requests; another account's secret verifies neither."""
    signature_scene, server = SignatureScene(), Server(web.Response(text=HANGUP))
    own, foreign = [await signature_scene.first_secret(each) for each in ACCOUNTS]
    signer_of = signature_scene.settings.webhook_signer
    async with server.open() as url:
        client = ActionClient(
            lambda _: session, Limits(allow_insecure=True), signer_of, time.time, lambda: 0.5
        )
        await client.ask("acme", url, b'{"callId":"c1"}', "c1.r0")
        sender = ApiSender(lambda _: session, time.time, lambda: 0.5)
        api_requests = ApiRequestRunner(signature_scene.store, sender, signer_of)
        request = ApiRequest(url, "POST", json={"n": 1})
        await put_request(signature_scene.store, "acme", API, encode(request))
        await api_requests.ask("acme", API, lambda _name: None, "c1.r1")
    assert [is_signed(each, own, url) for each in server.requests] == [True, True]
    assert [is_signed(each, foreign, url) for each in server.requests] == [False, False]


async def test_a_signature_is_of_one_address(session: ClientSession) -> None:
    """What a third party's API gets verifies at no other server, and at no other path."""
    signature_scene, server = SignatureScene(), Server(web.Response(text="{}"))
    secret = await signature_scene.first_secret("acme")
    async with server.open() as url:
        runner = ApiRequestRunner(
            signature_scene.store,
            ApiSender(lambda _: session, time.time, lambda: 0.5),
            signature_scene.settings.webhook_signer,
        )
        request = ApiRequest(f"{url}?a=b%20c&n={{{{call.from}}}}", "POST", json={"n": 1})
        await put_request(signature_scene.store, "acme", API, encode(request))
        await runner.ask("acme", API, lambda _name: "+1", "c1.r1")
    (got,) = server.requests
    sent = f"{url}?a=b%20c&n=%2B1"
    assert is_signed(got, secret, sent)
    others = (URL, url, sent.replace("%20", "+"), sent.replace("127.0.0.1", "127.0.0.2"))
    assert not any(is_signed(got, secret, each) for each in others)
    headers, body = got
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body, headers)  # nor where addresses are not looked at


async def test_a_rotation_concerns_webhooks() -> None:
    """Both secrets sign for a day, for whatever is sent."""
    signature_scene = SignatureScene()
    first = await signature_scene.first_secret("acme")
    second = (await signature_scene.writer.rotate("acme")).secret
    headers = (await signature_scene.settings.webhook_signer("acme")).headers(
        "c1.r0", time.time(), b"{}", URL
    )
    assert is_signed((headers, b"{}"), first)
    assert is_signed((headers, b"{}"), second)


async def test_secrets_survive_the_loss_of_the_store() -> None:
    """The first one signs again; a rotated one returns after as many rotations."""
    signature_scene = SignatureScene()
    first = await signature_scene.first_secret("acme")
    rotated = [(await signature_scene.writer.rotate("acme")).secret for _ in range(2)]
    signature_scene.lose_data()
    assert await signature_scene.first_secret("acme") == first
    assert [(await signature_scene.writer.rotate("acme")).secret for _ in range(2)] == rotated
    secrets = {first, *rotated, await signature_scene.first_secret("other")}
    assert len(secrets) == 4
    assert base64.b64encode(KEY).decode() not in "".join(secrets)


async def test_a_deleted_secret_never_signs_again() -> None:
    """The next secret of the account has the next number."""
    signature_scene = SignatureScene()
    deleted = (await signature_scene.writer.rotate("acme")).secret
    await signature_scene.writer.remove("acme")
    signer = await signature_scene.settings.signer("acme")
    headers = signer.headers("c1.r0", time.time(), b"{}", URL)
    assert not is_signed((headers, b"{}"), deleted)


class BreakableOutbox(MemoryCallbackQueue):
    """An outbox whose settings of accounts cannot be read while it is down."""

    is_down = False

    async def account(self, account: str) -> tuple[bytes | None, int]:
        """Read, or fail."""
        if self.is_down:
            raise StoreDown("server:6379: gone")
        return await super().account(account)


async def test_calls_go_on_while_the_store_is_down() -> None:
    """What was read last signs; an account that was never read has a failure with a reason."""
    signature_scene = SignatureScene()
    outbox = BreakableOutbox(
        lambda: 0,
        lambda _slot, _token: None,
        CallbackQueueLimits(),
        signature_scene.store.documents,
    )
    signature_scene.settings = AccountSettings(
        outbox, lambda: signature_scene.now_ms, AccountSecrets(KEY)
    )
    secret = await signature_scene.first_secret("acme")
    await signature_scene.settings.signer("acme")
    outbox.is_down = True
    signature_scene.now_ms += 3_600_000
    headers = (await signature_scene.settings.webhook_signer("acme")).headers(
        "c1.r0", time.time(), b"{}", URL
    )
    assert is_signed((headers, b"{}"), secret)
    with pytest.raises(WebhookFailed) as failed:
        await signature_scene.settings.webhook_signer("other")
    assert failed.value.reason == "store_down"


async def test_the_first_secret_is_the_one_that_has_signed(scene: RpcScene) -> None:
    """An account without settings has it already; it is shown when they are put."""
    signer = await scene.accounts.signer("acme")
    assert await scene.problem("GET", "/callbacks/acme") == (404, "not_found")
    secret = (await scene.documents.callback("acme", {}))["secret"]
    assert is_signed((signer.headers("c1.r0", time.time(), b"{}", URL), b"{}"), secret)
