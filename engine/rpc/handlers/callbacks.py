"""RPC operations on status callbacks: an account's target and its signing secret."""

from aiohttp import web
from msgspec import Struct

from engine.callbacks.account_settings import AccountSettings
from engine.callbacks.callback_tester import CallbackTester
from engine.rpc.lookup import name_in
from engine.rpc.problems import Conflict, NotFound
from engine.store.store import Store
from wire.callbacks.account import CallbackTestResult, CallbackView
from wire.callbacks.settings import CallbackChange, CallbackSettings, ChangedCallback
from wire.callbacks.targets import (
    ApiRequestTarget,
    HttpsTarget,
    parse_call_target,
    parse_delivery_target,
)
from wire.decoding.error_texts import REQUIRED
from wire.decoding.errors import BadInput
from wire.tree import Limits, check_url


class CallbackHandlers(Struct, frozen=True):
    store: Store
    targets: AccountSettings
    limits: Limits
    tester: CallbackTester

    async def get(self, request: web.Request) -> CallbackView:
        """Show the settings as engines apply them, and whether their target is stopped."""
        account = name_in(request, "account")
        found = await self.targets.reread(account)
        if found is None or found.is_implicit:
            raise _not_found(account)
        return _view(found)

    async def draft(self, request: web.Request, body: CallbackChange) -> ChangedCallback:
        """Validate a change, and return the settings that follow, without storing them."""
        account, before, changes = name_in(request, "account"), body.before, self.targets.changes
        match body.change:
            case "put":
                if body.settings is None:
                    raise BadInput("settings", REQUIRED)
                await self.check_target(account, body.settings.target)
                after = changes.put(account, before, body.settings)
                return ChangedCallback(after, before is None or before.is_secret_unseen)
            case "rotate":
                return ChangedCallback(changes.rotate(account, before), is_secret_new=True)
            case "remove":
                if before is None or before.is_implicit:
                    raise _not_found(account)
                return ChangedCallback(changes.remove(account, before))

    async def test(self, request: web.Request) -> CallbackTestResult:
        """Send a test event to the target now, once; also to one that is stopped."""
        account = name_in(request, "account")
        found = await self.targets.reread(account)
        if found is None or found.target is None:
            raise Conflict(f"account {account} has no target to deliver to", "no_target")
        return await self.tester.send(account, found.target)

    async def check_target(self, account: str, target: str | None) -> None:
        """Check the target of an account; raises BadInput, StoreDown."""
        destination = parse_delivery_target(target, "target") if target else None
        if isinstance(destination, HttpsTarget):
            check_url(destination.url, self.limits, "target")
        if isinstance(destination, ApiRequestTarget):
            await _check_request(self.store, account, destination, "target")


async def check_callback_target(store: Store, account: str, target: str | None) -> None:
    """Check that a call's callback target exists; raises BadInput, StoreDown.

    `auto-set` is valid on every account: without a target of the account, nothing is sent.
    """
    path = "statusCallbackUrl"
    destination = parse_call_target(target, path) if target is not None else None
    if isinstance(destination, ApiRequestTarget):
        await _check_request(store, account, destination, path)


async def _check_request(
    store: Store, account: str, destination: ApiRequestTarget, path: str
) -> None:
    if await store.request(account, destination.id) is None:
        raise BadInput(path, f"no API request {destination.id}", "unknown_request")


def _view(account: CallbackSettings) -> CallbackView:
    return CallbackView(
        target=account.target,
        concurrency=account.concurrency,
        per_s=account.per_s,
        secret_number=account.secret_number,
        made_ms=account.made_ms,
        previous_until_ms=account.previous_until_ms or None,
        stopped=account.is_stopped,
    )


def _not_found(account: str) -> NotFound:
    return NotFound(f"no callbacks of account {account}")
