"""Dial policies over RPC: put as a whole; do-not-call lists are changed incrementally."""

import msgspec
from aiohttp import web

from engine.calls.model.call import Call
from engine.rpc.handlers.number_routes import name_in
from engine.rpc.json_body import json_response, read_body
from engine.rpc.lookup import live_call_of
from engine.rpc.problems import NotFound
from engine.runtime.admission.placement import NoCapacity
from engine.runtime.policy.dial_policy import DialPolicy
from engine.runtime.service import CallService
from engine.store.dial_policy import DialPolicyStore
from wire.dial_policy import (
    AccountDialPolicy,
    DialPolicies,
    DialPolicyView,
    DncListChange,
    DncListState,
)
from wire.errors import BadInput

_ONE = "/terms/{account}"


class DialPolicyHandlers:
    """One method a request."""

    def __init__(self, kept: DialPolicyStore, book: DialPolicy) -> None:
        self._kept = kept
        self._book = book

    def routes(self) -> list[web.RouteDef]:
        """Say what is answered where."""
        return [
            web.get("/terms", self.list),
            web.put(_ONE, self.put),
            web.get(_ONE, self.get),
            web.patch(f"{_ONE}/dnc", self.change),
            web.delete(f"{_ONE}/dnc", self.forget),
        ]

    async def list(self, _request: web.Request) -> web.Response:
        """List which versions of their terms accounts have."""
        found = await self._kept.all()
        versions = await self._kept.list_versions(list(found))
        views = (
            DialPolicyView(account, _read(body).version, version)
            for (account, body), version in zip(found.items(), versions, strict=True)
        )
        return json_response(DialPolicies(tuple(views)))

    async def put(self, request: web.Request) -> web.Response:
        """Say what an account may dial: here from now on, in other engines from the next second."""
        account, terms = name_in(request, "account"), await read_body(request, AccountDialPolicy)
        await self._kept.put(account, msgspec.json.encode(terms))
        self._book.update(account, terms)
        (version,) = await self._kept.list_versions([account])
        return json_response(DialPolicyView(account, terms.version, version))

    async def get(self, request: web.Request) -> web.Response:
        """Show what an account may dial."""
        account = name_in(request, "account")
        body = await self._kept.get(account)
        if body is None:
            raise NotFound(f"no terms of account {account}")
        return json_response(_read(body))

    async def change(self, request: web.Request) -> web.Response:
        """Change a do-not-call list where it stands as the change says; tell where it stands."""
        account, change = name_in(request, "account"), await read_body(request, DncListChange)
        if change.version <= change.after:
            raise BadInput("version", "more than after")
        return json_response(DncListState(await self._kept.change_list(account, change)))

    async def forget(self, request: web.Request) -> web.Response:
        """Take a do-not-call list away."""
        await self._kept.delete_list(name_in(request, "account"))
        return json_response({})


async def check_dial_policy(book: DialPolicy, account: str, party: str, path: str) -> None:
    """Check that a party may be called; raises BadInput, NoRoom while that is not known."""
    match await book.refusal(account, party):
        case "":
            pass
        case "terms_unknown":
            raise NoCapacity("terms_unknown", f"what {account} may call is not known just now")
        case "do_not_call":
            raise BadInput(path, f"{party} is on the do-not-call list", "do_not_call")
        case "not_allowed":
            raise BadInput(path, f"{party} may not be called by this account", "not_allowed")


async def authorize_dial(  # noqa: PLR0913, PLR0917 - the call, and what is asked of it
    book: DialPolicy,
    switch: CallService,
    request: web.Request,
    account: str | None,
    party: str,
    path: str,
) -> Call:
    """Give a live call whose account may call a party, as it stands once that is known."""
    call = await live_call_of(switch, request, account)
    await check_dial_policy(book, call.account, party, path)
    return await live_call_of(switch, request, account)


def _read(body: bytes) -> AccountDialPolicy:
    return msgspec.json.decode(body, type=AccountDialPolicy)
