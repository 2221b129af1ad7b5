"""Callback settings: signing secrets, targets and caching."""

import asyncio
import random
from typing import TypeVar

import pytest

from base.ttl_cache import DEFAULT_TTL_MS
from engine.callbacks.account_secrets import AccountSecrets
from engine.callbacks.account_settings import AccountSettings
from engine.store.callback_queue import CallbackQueueLimits
from engine.store.errors import StoreDown
from engine.webhooks.errors import WebhookFailed
from tests.harness.memory_store.callback_queue import MemoryCallbackQueue
from tests.harness.memory_store.store import MemoryStore
from tests.harness.memory_store.versioned_documents import MemoryVersionedDocuments
from wire.callbacks.account import PutCallback
from wire.callbacks.targets import GrpcTarget, HttpsTarget

TARGET = "https://x.example/status"
NOW = 1_000_000
SECRETS = AccountSecrets(None, random.randbytes)
Outboxes = TypeVar("Outboxes", bound=MemoryCallbackQueue)


class Scene:
    """Callback targets over a store in memory, at a time that the test sets."""

    def __init__(self) -> None:
        self.now_ms = NOW
        self.store = MemoryStore()
        self.targets = self.create_targets()

    def create_targets(self) -> AccountSettings:
        """Create the targets of one engine."""
        return AccountSettings(self.store.callback_queue, lambda: self.now_ms, SECRETS)


async def test_a_rotated_secret_signs_for_another_day() -> None:
    """Both secrets sign, then the new one."""
    scene = Scene()
    first, is_new = await scene.targets.put("acme", PutCallback(TARGET))
    assert is_new
    second = await scene.targets.rotate_secret("acme")
    assert second.secrets(scene.now_ms) == (second.secret, first.secret)
    assert second.secrets(scene.now_ms + 86_399_999) == (second.secret, first.secret)
    assert second.secrets(scene.now_ms + 86_400_000) == (second.secret,)
    again, is_new = await scene.targets.put("acme", PutCallback(TARGET))
    assert (again.secret, is_new) == (second.secret, False)


async def test_a_change_is_seen_by_others_within_a_second() -> None:
    """Cached settings are valid for that long."""
    scene = Scene()
    other = scene.create_targets()
    assert await other.auto_set("acme") is None
    await scene.targets.put("acme", PutCallback(TARGET))
    assert await other.auto_set("acme") is None
    scene.now_ms += DEFAULT_TTL_MS
    assert await other.auto_set("acme") == "auto-set"


async def test_settings_without_a_target() -> None:
    """The account's calls have no default target; its secret signs for calls that name one."""
    scene = Scene()
    settings, _ = await scene.targets.put("acme", PutCallback())
    assert await scene.targets.auto_set("acme") is None
    assert await scene.targets.resolve("acme", "auto-set") is None
    assert await scene.targets.resolve("acme", "grpc://x:1") == GrpcTarget("x", 1)
    assert settings.secret


async def test_resolving_targets() -> None:
    """`auto-set` is the account's target, any other is itself.

    A stopped target gets nothing, and is still the target of new calls: their events are kept.
    """
    scene = Scene()
    await scene.targets.put("acme", PutCallback(TARGET))
    assert await scene.targets.resolve("acme", "auto-set") == HttpsTarget(TARGET)
    assert await scene.targets.resolve("acme", "grpc://x:1") == GrpcTarget("x", 1)
    assert await scene.targets.resolve("other", "auto-set") is None
    await scene.targets.stop("acme", HttpsTarget(TARGET))
    assert await scene.targets.resolve("acme", "auto-set") is None
    assert await scene.targets.auto_set("acme") == "auto-set"
    await scene.targets.put("acme", PutCallback(TARGET))
    assert await scene.targets.resolve("acme", "auto-set") == HttpsTarget(TARGET)


async def test_an_unknown_account() -> None:
    """Removing or stopping creates no settings."""
    scene = Scene()
    assert not await scene.targets.remove("acme")
    await scene.targets.stop("acme", HttpsTarget(TARGET))
    assert await scene.targets.settings("acme") is None


async def test_a_target_that_was_replaced_is_not_stopped() -> None:
    """A late 410 of the previous target does not stop the current one."""
    scene = Scene()
    await scene.targets.put("acme", PutCallback("https://y.example/status"))
    await scene.targets.stop("acme", HttpsTarget(TARGET))
    assert await scene.targets.auto_set("acme") == "auto-set"


class SlowOutbox(MemoryCallbackQueue):
    """An outbox where a second reader comes before the first one writes."""

    async def account(self, account: str) -> bytes | None:
        """Read, then yield to the loop."""
        body = await super().account(account)
        await asyncio.sleep(0)
        return body


def new_outbox(kind: type[Outboxes]) -> Outboxes:
    """Return an empty one."""
    documents = MemoryVersionedDocuments(lambda: NOW)
    return kind(lambda: NOW, lambda _shard, _token: None, CallbackQueueLimits(), documents)


class CountingOutbox(MemoryCallbackQueue):
    """An outbox that counts the settings that are written."""

    swaps = 0

    async def swap_account(self, account: str, before: bytes | None, after: bytes | None) -> bool:
        """See CallbackQueue."""
        self.swaps += 1
        return await super().swap_account(account, before, after)


async def test_what_changes_nothing_is_not_written() -> None:
    """A target that answers 410 again, and settings that do not exist."""
    outbox = new_outbox(CountingOutbox)
    targets = AccountSettings(outbox, lambda: NOW, SECRETS)
    assert not await targets.remove("acme")
    assert outbox.swaps == 0
    await targets.put("acme", PutCallback(TARGET))
    for _ in range(3):
        await targets.stop("acme", HttpsTarget(TARGET))
    assert outbox.swaps == 2


async def test_two_concurrent_changes_are_both_stored() -> None:
    """A target answers 410 while another engine rotates the account's secret."""
    outbox = new_outbox(SlowOutbox)
    one, other = (AccountSettings(outbox, lambda: NOW, SECRETS) for _ in range(2))
    first, _ = await one.put("acme", PutCallback(TARGET))
    rotated, _ = await asyncio.gather(
        one.rotate_secret("acme"), other.stop("acme", HttpsTarget(TARGET))
    )
    found = await AccountSettings(outbox, lambda: NOW, SECRETS).settings("acme")
    assert found is not None
    assert (found.secret, found.previous, found.is_stopped) == (rotated.secret, first.secret, True)


async def test_two_engines_that_sign_first_have_one_secret() -> None:
    """The secret that was stored first; both then sign with it."""
    outbox = new_outbox(SlowOutbox)
    engines = [AccountSettings(outbox, lambda: NOW, SECRETS) for _ in range(2)]
    signers = await asyncio.gather(*(each.signer("acme") for each in engines))
    one, other = (each.headers("id", 0, b"{}", "https://x.example/") for each in signers)
    assert one == other


class FailingOutbox(MemoryCallbackQueue):
    """An outbox whose server may be down."""

    is_down = False

    async def account(self, account: str) -> bytes | None:
        """See CallbackQueue."""
        if self.is_down:
            raise StoreDown("no route")
        return await super().account(account)


async def test_webhooks_are_signed_while_the_store_is_down() -> None:
    """With the secret that was read last; an account that has never signed has none to sign with.

    Its settings are not shown meanwhile: they may have changed.
    """
    outbox, scene = new_outbox(FailingOutbox), Scene()
    targets = AccountSettings(outbox, lambda: scene.now_ms, SECRETS)
    signed = (await targets.signer("acme")).headers("id", 0, b"{}", TARGET)
    assert await targets.settings("other") is None
    outbox.is_down = True
    scene.now_ms += DEFAULT_TTL_MS
    for found in (await targets.signer("acme"), await targets.webhook_signer("acme")):
        assert found.headers("id", 0, b"{}", TARGET) == signed
    with pytest.raises(StoreDown):
        await targets.settings("acme")
    for account in ("other", "third"):
        with pytest.raises(StoreDown):
            await targets.signer(account)
        with pytest.raises(WebhookFailed) as raised:
            await targets.webhook_signer(account)
        assert (raised.value.reason, str(raised.value)) == (
            "store_down", "store_down: the store can't be used now",
        )  # fmt: skip


async def test_a_secret_that_signs_webhooks_is_no_setting_to_remove() -> None:
    """An account without callbacks has it: its webhooks go on with the same one."""
    scene = Scene()
    before = (await scene.targets.signer("acme")).headers("id", 0, b"{}", TARGET)
    assert not await scene.targets.remove("acme")
    assert (await scene.targets.signer("acme")).headers("id", 0, b"{}", TARGET) == before


async def test_removed_settings_stay_removed() -> None:
    """A change that began before the removal stores nothing."""
    outbox = new_outbox(SlowOutbox)
    targets = AccountSettings(outbox, lambda: NOW, SECRETS)
    await targets.put("acme", PutCallback(TARGET))
    await asyncio.gather(targets.remove("acme"), targets.stop("acme", HttpsTarget(TARGET)))
    found = await targets.settings("acme")
    assert found is not None
    assert found.is_implicit
