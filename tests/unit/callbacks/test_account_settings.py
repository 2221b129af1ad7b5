"""Callback settings: signing secrets, targets and caching."""

from typing import TypeVar

import pytest

from base.ttl_cache import DEFAULT_TTL_MS
from engine.callbacks.account_settings import AccountSettings
from engine.callbacks.settings_changes import AccountSecrets
from engine.store.callback_queue import CallbackQueueLimits
from engine.store.errors import StoreDown
from engine.webhooks.errors import WebhookFailed
from tests.harness.callbacks.settings import SettingsWriter
from tests.harness.memory_store.callback_queue import MemoryCallbackQueue
from tests.harness.memory_store.store import MemoryStore
from wire.callbacks.account import PutCallback
from wire.callbacks.targets import GrpcTarget, HttpsTarget

TARGET = "https://x.example/status"
NOW = 1_000_000
SECRETS = AccountSecrets(b"key")
Outboxes = TypeVar("Outboxes", bound=MemoryCallbackQueue)


class Scene:
    """Callback targets over a store in memory, at a time that the test sets."""

    def __init__(self) -> None:
        self.now_ms = NOW
        self.store = MemoryStore()
        self.targets = self.create_targets()
        self.settings = SettingsWriter(self.store, self.targets)

    def create_targets(self) -> AccountSettings:
        """Create the targets of one engine."""
        return AccountSettings(self.store.callback_queue, lambda: self.now_ms, SECRETS)


async def test_a_rotated_secret_signs_for_another_day() -> None:
    """Both secrets sign, then the new one."""
    scene = Scene()
    first = await scene.settings.put("acme", PutCallback(TARGET))
    second = await scene.settings.rotate("acme")
    assert second.secrets(scene.now_ms) == (second.secret, first.secret)
    assert second.secrets(scene.now_ms + 86_399_999) == (second.secret, first.secret)
    assert second.secrets(scene.now_ms + 86_400_000) == (second.secret,)
    again = await scene.settings.put("acme", PutCallback(TARGET))
    assert again.secret == second.secret


async def test_a_change_is_seen_by_others_within_a_second() -> None:
    """Cached settings are valid for that long."""
    scene = Scene()
    other = scene.create_targets()
    assert await other.auto_set("acme") is None
    await scene.settings.put("acme", PutCallback(TARGET))
    assert await other.auto_set("acme") is None
    scene.now_ms += DEFAULT_TTL_MS
    assert await other.auto_set("acme") == "auto-set"


async def test_settings_without_a_target() -> None:
    """The account's calls have no default target; its secret signs for calls that name one."""
    scene = Scene()
    settings = await scene.settings.put("acme", PutCallback())
    assert await scene.targets.auto_set("acme") is None
    assert await scene.targets.resolve("acme", "auto-set") is None
    assert await scene.targets.resolve("acme", "grpc://x:1") == GrpcTarget("x", 1)
    assert settings.secret


async def test_resolving_targets() -> None:
    """`auto-set` is the account's target, any other is itself.

    A stopped target gets nothing, and is still the target of new calls: their events are kept.
    """
    scene = Scene()
    await scene.settings.put("acme", PutCallback(TARGET))
    assert await scene.targets.resolve("acme", "auto-set") == HttpsTarget(TARGET)
    assert await scene.targets.resolve("acme", "grpc://x:1") == GrpcTarget("x", 1)
    assert await scene.targets.resolve("other", "auto-set") is None
    await scene.targets.stop("acme", HttpsTarget(TARGET))
    assert await scene.targets.resolve("acme", "auto-set") is None
    assert await scene.targets.auto_set("acme") == "auto-set"
    await scene.settings.put("acme", PutCallback(TARGET))
    assert await scene.targets.resolve("acme", "auto-set") == HttpsTarget(TARGET)


async def test_an_unknown_account() -> None:
    """Stopping creates no settings."""
    scene = Scene()
    await scene.targets.stop("acme", HttpsTarget(TARGET))
    assert await scene.targets.settings("acme") is None


async def test_a_target_that_was_replaced_is_not_stopped() -> None:
    """A late 410 of the previous target does not stop the current one."""
    scene = Scene()
    await scene.settings.put("acme", PutCallback("https://y.example/status"))
    await scene.targets.stop("acme", HttpsTarget(TARGET))
    assert await scene.targets.auto_set("acme") == "auto-set"


class CountingOutbox(MemoryCallbackQueue):
    """An outbox that counts the targets that are stopped."""

    stops = 0

    async def stop_account(self, account: str, put_ms: int) -> None:
        """See CallbackQueue."""
        self.stops += 1
        await super().stop_account(account, put_ms)


def new_outbox(kind: type[Outboxes], store: MemoryStore) -> Outboxes:
    """Return an empty one with the documents of a store."""
    return kind(lambda: NOW, lambda _shard, _token: None, CallbackQueueLimits(), store.documents)


async def test_what_changes_nothing_is_not_written() -> None:
    """A target that answers 410 again, and settings that do not exist."""
    store = MemoryStore()
    outbox = new_outbox(CountingOutbox, store)
    targets = AccountSettings(outbox, lambda: NOW, SECRETS)
    await targets.stop("acme", HttpsTarget(TARGET))
    assert outbox.stops == 0
    await SettingsWriter(store, targets).put("acme", PutCallback(TARGET))
    for _ in range(3):
        await targets.stop("acme", HttpsTarget(TARGET))
    assert outbox.stops == 1


async def test_a_stopped_target_stays_stopped_after_a_rotation() -> None:
    """Also at another engine; only settings that are put again let it go on."""
    scene = Scene()
    first = await scene.settings.put("acme", PutCallback(TARGET))
    await scene.create_targets().stop("acme", HttpsTarget(TARGET))
    rotated = await scene.settings.rotate("acme")
    found = await scene.create_targets().settings("acme")
    assert found is not None
    assert (found.secret, found.previous, found.is_stopped) == (rotated.secret, first.secret, True)
    scene.now_ms += 1
    await scene.settings.put("acme", PutCallback(TARGET))
    found = await scene.targets.settings("acme")
    assert found is not None
    assert not found.is_stopped


async def test_two_engines_sign_with_one_secret() -> None:
    """Also if the account has no settings yet."""
    scene = Scene()
    signers = [await each.signer("acme") for each in (scene.targets, scene.create_targets())]
    one, other = (each.headers("id", 0, b"{}", "https://x.example/") for each in signers)
    assert one == other


class FailingOutbox(MemoryCallbackQueue):
    """An outbox whose server may be down."""

    is_down = False

    async def account(self, account: str) -> tuple[bytes | None, int]:
        """See CallbackQueue."""
        if self.is_down:
            raise StoreDown("no route")
        return await super().account(account)


async def test_webhooks_are_signed_while_the_store_is_down() -> None:
    """With the secret that was read last; of an account that was never read none is known.

    Its settings are not shown meanwhile: they may have changed.
    """
    scene = Scene()
    outbox = new_outbox(FailingOutbox, scene.store)
    targets = AccountSettings(outbox, lambda: scene.now_ms, SECRETS)
    signed = (await targets.signer("acme")).headers("id", 0, b"{}", TARGET)
    outbox.is_down = True
    scene.now_ms += DEFAULT_TTL_MS
    for found in (await targets.signer("acme"), await targets.webhook_signer("acme")):
        assert found.headers("id", 0, b"{}", TARGET) == signed
    with pytest.raises(StoreDown):
        await targets.settings("acme")
    with pytest.raises(StoreDown):
        await targets.signer("other")
    with pytest.raises(WebhookFailed) as raised:
        await targets.webhook_signer("other")
    assert (raised.value.reason, str(raised.value)) == (
        "store_down", "store_down: the store can't be used now",
    )  # fmt: skip


async def test_removed_settings_stay_removed() -> None:
    """A target that answers 410 after that stores nothing."""
    scene = Scene()
    await scene.settings.put("acme", PutCallback(TARGET))
    await scene.settings.remove("acme")
    await scene.targets.stop("acme", HttpsTarget(TARGET))
    found = await scene.targets.reread("acme")
    assert found is not None
    assert found.is_implicit
    assert not found.is_stopped
