"""Status callbacks over RPC: an account's target, and its secret."""

from aiohttp import web

from engine.callbacks.targets import CallbackSettings, CallbackTargets
from engine.rpc.handlers.number_routes import name_in
from engine.rpc.json_body import json_response, read_body
from engine.rpc.problems import NotFound
from engine.store.store import Store
from wire.callback_targets import (
    AUTO_SET,
    ApiRequestTarget,
    HttpsTarget,
    parse_call_target,
    parse_delivery_target,
)
from wire.callbacks import CallbackView, PutCallback
from wire.errors import BadInput
from wire.tree import Limits, check_url


class CallbackHandlers:
    """One method a request."""

    def __init__(self, store: Store, accounts: CallbackTargets, limits: Limits) -> None:
        self._store = store
        self._accounts = accounts
        self._limits = limits

    def routes(self) -> list[web.RouteDef]:
        """Say what is answered where."""
        one = "/callbacks/{account}"
        return [
            web.put(one, self.put),
            web.get(one, self.get),
            web.delete(one, self.delete),
            web.post(f"{one}/rotate", self.rotate),
        ]

    async def put(self, request: web.Request) -> web.Response:
        """Say where an account's calls are told; its secret is made, and shown, with the first."""
        account = name_in(request, "account")
        asked = await read_body(request, PutCallback)
        await self._check_target(account, asked.target)
        after, is_new = await self._accounts.put(account, asked)
        return json_response(_view(after, is_new=is_new))

    async def get(self, request: web.Request) -> web.Response:
        """Show where an account's calls are told."""
        return json_response(_view(await self._known(request)))

    async def delete(self, request: web.Request) -> web.Response:
        """Forget an account's target and its secrets."""
        account = name_in(request, "account")
        if not await self._accounts.remove(account):
            raise _unknown(account)
        return json_response({})

    async def rotate(self, request: web.Request) -> web.Response:
        """Make another secret; the one before signs along for a day."""
        account = name_in(request, "account")
        after = await self._accounts.rotate_secret(account)
        if after is None:
            raise _unknown(account)
        return json_response(_view(after, is_new=True))

    async def _known(self, request: web.Request) -> CallbackSettings:
        account = name_in(request, "account")
        found = await self._accounts.settings(account)
        if found is None:
            raise _unknown(account)
        return found

    async def _check_target(self, account: str, target: str | None) -> None:
        place = parse_delivery_target(target, "target") if target else None
        if isinstance(place, HttpsTarget):
            check_url(place.url, self._limits, "target")
        if isinstance(place, ApiRequestTarget):
            await _check_request(self._store, account, place, "target")


async def check_callback_target(
    accounts: CallbackTargets, store: Store, account: str, target: str | None
) -> None:
    """Check that what a call names as its target leads somewhere; raises BadInput, StoreDown."""
    path = "statusCallbackUrl"
    if target is None:
        return
    place = parse_call_target(target, path)
    if isinstance(place, ApiRequestTarget):
        await _check_request(store, account, place, path)
    if target == AUTO_SET and await accounts.auto_set(account) is None:
        raise BadInput(path, f"account {account} has no target to deliver to", "no_target")


async def _check_request(store: Store, account: str, place: ApiRequestTarget, path: str) -> None:
    if await store.request(account, place.id) is None:
        raise BadInput(path, f"no API request {place.id}", "unknown_request")


def _view(account: CallbackSettings, *, is_new: bool = False) -> CallbackView:
    return CallbackView(
        target=account.target,
        concurrency=account.concurrency,
        per_s=account.per_s,
        secret=account.secret if is_new else None,
        made_ms=account.made_ms,
        previous_until_ms=account.previous_until_ms or None,
        stopped=account.is_stopped,
    )


def _unknown(account: str) -> NotFound:
    return NotFound(f"no callbacks of account {account}")
