"""Accounts' configurations: which secrets sign, and what is remembered."""

import asyncio
import random

from engine.callbacks.targets import CACHE_TTL_MS, ROTATION_OVERLAP_MS, CallbackTargets
from engine.store.memory.outbox import MemoryOutbox
from engine.store.memory.store import MemoryStore
from engine.store.outbox import OutboxLimits
from engine.webhooks.signatures import Signer
from wire.callback_targets import GrpcTarget, HttpsTarget
from wire.callbacks import PutCallback

TARGET = "https://x.example/status"
NOW = 1_000_000


class Scene:
    """Accounts over a store in memory, at a time set by hand."""

    def __init__(self) -> None:
        self.now_ms = NOW
        self.store = MemoryStore()
        self.accounts = self.another()

    def another(self) -> CallbackTargets:
        """Give another engine's."""
        return CallbackTargets(self.store.outbox, lambda: self.now_ms, random.randbytes, Signer())


async def test_a_rotated_secret_signs_for_another_day() -> None:
    """Two sign, then one."""
    scene = Scene()
    first, is_new = await scene.accounts.put("acme", PutCallback(TARGET))
    assert is_new
    second = await scene.accounts.rotate_secret("acme")
    assert second is not None
    assert second.secrets(scene.now_ms) == (second.secret, first.secret)
    assert second.secrets(scene.now_ms + ROTATION_OVERLAP_MS) == (second.secret,)
    again, is_new = await scene.accounts.put("acme", PutCallback(TARGET))
    assert (again.secret, is_new) == (second.secret, False)


async def test_a_change_is_seen_by_others_within_a_second() -> None:
    """What is remembered is fresh for so long."""
    scene = Scene()
    other = scene.another()
    assert await other.auto_set("acme") is None
    await scene.accounts.put("acme", PutCallback(TARGET))
    assert await other.auto_set("acme") is None
    scene.now_ms += CACHE_TTL_MS
    assert await other.auto_set("acme") == "auto-set"


async def test_where_targets_lead() -> None:
    """`auto-set` to the account's, any other to itself, and a stopped one nowhere."""
    scene = Scene()
    await scene.accounts.put("acme", PutCallback(TARGET))
    assert await scene.accounts.resolve("acme", "auto-set") == HttpsTarget(TARGET)
    assert await scene.accounts.resolve("acme", "grpc://x:1") == GrpcTarget("x", 1)
    assert await scene.accounts.resolve("other", "auto-set") is None
    await scene.accounts.stop("acme", HttpsTarget(TARGET))
    assert await scene.accounts.resolve("acme", "auto-set") is None
    assert await scene.accounts.auto_set("acme") is None
    await scene.accounts.put("acme", PutCallback(TARGET))
    assert await scene.accounts.resolve("acme", "auto-set") == HttpsTarget(TARGET)


async def test_what_is_not_there() -> None:
    """It can't be rotated, removed or stopped into being."""
    scene = Scene()
    assert await scene.accounts.rotate_secret("acme") is None
    assert not await scene.accounts.remove("acme")
    await scene.accounts.stop("acme", HttpsTarget(TARGET))
    assert await scene.accounts.settings("acme") is None


async def test_a_target_that_was_replaced_is_not_stopped() -> None:
    """What the one before answers says nothing of the one that is there now."""
    scene = Scene()
    await scene.accounts.put("acme", PutCallback("https://y.example/status"))
    await scene.accounts.stop("acme", HttpsTarget(TARGET))
    assert await scene.accounts.auto_set("acme") == "auto-set"


class Slow(MemoryOutbox):
    """Documents of which others read while one writes."""

    async def account(self, account: str) -> bytes | None:
        """Read, and take a moment."""
        body = await super().account(account)
        await asyncio.sleep(0)
        return body


async def test_two_changes_at_once_are_both_done() -> None:
    """A target answers 410 while its account's secret is rotated, by whichever engine."""
    slow = Slow(lambda: NOW, lambda _slot, _token: None, OutboxLimits())
    one, other = (CallbackTargets(slow, lambda: NOW, random.randbytes, Signer()) for _ in range(2))
    first, _ = await one.put("acme", PutCallback(TARGET))
    rotated, _ = await asyncio.gather(
        one.rotate_secret("acme"), other.stop("acme", HttpsTarget(TARGET))
    )
    assert rotated is not None
    found = await CallbackTargets(slow, lambda: NOW, random.randbytes, Signer()).settings("acme")
    assert found is not None
    assert (found.secret, found.previous, found.is_stopped) == (rotated.secret, first.secret, True)


async def test_who_is_removed_is_not_brought_back() -> None:
    """A change that began before finds nothing to change."""
    slow = Slow(lambda: NOW, lambda _slot, _token: None, OutboxLimits())
    accounts = CallbackTargets(slow, lambda: NOW, random.randbytes, Signer())
    await accounts.put("acme", PutCallback(TARGET))
    await asyncio.gather(accounts.remove("acme"), accounts.stop("acme", HttpsTarget(TARGET)))
    assert await slow.account("acme") is None
