"""Terms over RPC: put as a whole, do-not-call lists changed bit by bit; and asked before a call."""

import msgspec
from aiohttp import web

from engine.calls.model.call import Call
from engine.rpc.handlers.number_routes import name_in
from engine.rpc.json_body import answer, read
from engine.rpc.lookup import live_call_of
from engine.rpc.problems import NotFound
from engine.runtime.admission.placement import NoRoom
from engine.runtime.policy.dial_policy import TermsBook
from engine.runtime.service import Switch
from engine.store.dial_policy import TermsStore
from wire.dial_policy import AllTerms, ListChange, ListState, Terms, TermsView
from wire.errors import BadInput

_ONE = "/terms/{account}"


class TermsHandlers:
    """One method a request."""

    def __init__(self, kept: TermsStore, book: TermsBook) -> None:
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
        versions = await self._kept.versions(list(found))
        views = (
            TermsView(account, _read(body).version, version)
            for (account, body), version in zip(found.items(), versions, strict=True)
        )
        return answer(AllTerms(tuple(views)))

    async def put(self, request: web.Request) -> web.Response:
        """Say what an account may dial: here from now on, in other engines from the next second."""
        account, terms = name_in(request, "account"), await read(request, Terms)
        await self._kept.put(account, msgspec.json.encode(terms))
        self._book.learn(account, terms)
        (version,) = await self._kept.versions([account])
        return answer(TermsView(account, terms.version, version))

    async def get(self, request: web.Request) -> web.Response:
        """Show what an account may dial."""
        account = name_in(request, "account")
        body = await self._kept.get(account)
        if body is None:
            raise NotFound(f"no terms of account {account}")
        return answer(_read(body))

    async def change(self, request: web.Request) -> web.Response:
        """Change a do-not-call list where it stands as the change says; tell where it stands."""
        account, change = name_in(request, "account"), await read(request, ListChange)
        if change.version <= change.after:
            raise BadInput("version", "more than after")
        return answer(ListState(await self._kept.change(account, change)))

    async def forget(self, request: web.Request) -> web.Response:
        """Take a do-not-call list away."""
        await self._kept.forget(name_in(request, "account"))
        return answer({})


async def check_terms(book: TermsBook, account: str, party: str, path: str) -> None:
    """Check that a party may be called; raises BadInput, NoRoom while that is not known."""
    match await book.refusal(account, party):
        case "":
            pass
        case "terms_unknown":
            raise NoRoom("terms_unknown", f"what {account} may call is not known just now")
        case "do_not_call":
            raise BadInput(path, f"{party} is on the do-not-call list", "do_not_call")
        case "not_allowed":
            raise BadInput(path, f"{party} may not be called by this account", "not_allowed")


async def call_to_dial(  # noqa: PLR0913, PLR0917 - the call, and what is asked of it
    book: TermsBook,
    switch: Switch,
    request: web.Request,
    account: str | None,
    party: str,
    path: str,
) -> Call:
    """Give a live call whose account may call a party, as it stands once that is known."""
    call = await live_call_of(switch, request, account)
    await check_terms(book, call.account, party, path)
    return await live_call_of(switch, request, account)


def _read(body: bytes) -> Terms:
    return msgspec.json.decode(body, type=Terms)
