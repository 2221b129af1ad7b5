"""RPC operations on listeners: added, polled for requests, and sending their responses."""

import secrets
from collections.abc import Callable
from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta, Struct, field

from base.limit import Limit
from engine.listeners import allows_listeners
from engine.rpc.account_queue import AccountQueue
from engine.rpc.json_body import read_query
from engine.rpc.lookup import name_in
from engine.rpc.problems import Conflict, LimitReached, NotFound
from engine.runtime.call_service import CallService
from engine.store.listeners import FIRST, MAX_LISTENERS, ListenerStore
from engine.store.store import Store
from wire.decoding.errors import BadInput
from wire.decoding.messages import decode_message
from wire.listeners import (
    Listener,
    ListenerRequest,
    ListenerRequests,
    ListenerResponse,
    Listeners,
    NewListener,
)
from wire.phone_numbers.international_form import international

FIRST_LEASE_MS = 15_000  # until the first poll
LEASE_MS = 4_000  # after the wait of a poll
MAX_WAIT_MS = 5_000
MAX_REQUESTS = 10  # of one poll
MAX_POLLS = 100  # each has a connection to the store while it waits
MAX_POLLS_OF_ACCOUNT: Annotated[
    int,
    Limit("account", "429 `too_many_polls`", "Polls of one account's listeners at one engine."),
] = 20
_ID_BYTES = 16


class _Poll(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    after: Annotated[str, Meta(pattern=r"^[0-9]{1,16}-[0-9]{1,16}$")] = FIRST
    wait_ms: Annotated[int, Meta(ge=0, le=MAX_WAIT_MS)] = 0


def _polls() -> AccountQueue:
    most, of_account = MAX_POLLS, MAX_POLLS_OF_ACCOUNT
    return AccountQueue("too_many_polls", "polls", most=most, most_of_account=of_account)


class ListenerHandlers(Struct, frozen=True):
    """Any engine serves them: what is exchanged is in the store."""

    store: Store
    calls: CallService
    new_id: Callable[[int], str] = secrets.token_hex
    polls: AccountQueue = field(default_factory=_polls)

    @property
    def _listeners(self) -> ListenerStore:
        return self.store.listeners

    async def create(self, request: web.Request, body: NewListener) -> Listener:
        """Add a listener; it replaces one for the same number or call.

        Raises Conflict unless the route of the number, or of the call's, allows listeners.
        """
        account, now_ms = name_in(request, "account"), await self.store.time_ms()
        if (body.number is None) == (body.call_id is None):
            raise BadInput("number", "one of number or callId is required")
        if body.call_id is not None:
            number = await self._number_of(account, body.call_id)
        else:
            number = international(body.number or "", "")
        await self._check_allowed(account, number)
        until_ms = now_ms + body.ttl_s * 1000
        listener = Listener(self.new_id(_ID_BYTES), account, now_ms, until_ms, number, body.call_id)
        if not await self._listeners.add(listener, FIRST_LEASE_MS):
            raise LimitReached("too_many_listeners", f"an account may have {MAX_LISTENERS}")
        return listener

    async def list(self, request: web.Request) -> Listeners:
        account = name_in(request, "account")
        live = await self._listeners.live()
        return Listeners(tuple(each for each in live if each.account == account))

    async def requests(self, request: web.Request) -> ListenerRequests:
        """Wait for requests after a position; each poll lets the listener live on."""
        query = read_query(request, _Poll)
        with self.polls.place(name_in(request, "account")):
            listener = await self._renewed(request, query.wait_ms + LEASE_MS)
            found = await self._listeners.requests(
                listener, query.after, query.wait_ms, MAX_REQUESTS
            )
        return ListenerRequests(
            tuple(decode_message(each.body, ListenerRequest) for each in found),
            found[-1].position if found else query.after,
        )

    async def respond(self, request: web.Request, body: ListenerResponse) -> None:
        """Send the response of a request; raises Conflict if no engine waits for it any more."""
        listener = await self._renewed(request, LEASE_MS)
        body_text = msgspec.json.encode(body)
        if not await self._listeners.respond(listener, request.match_info["request"], body_text):
            raise Conflict("no call waits for this response any more", "not_waiting")

    async def delete(self, request: web.Request) -> None:
        """End a listener; its open requests go to their addresses."""
        account, listener = name_in(request, "account"), request.match_info["listener"]
        if not await self._listeners.remove(account, listener):
            raise _not_found(listener)

    async def _renewed(self, request: web.Request, lease_ms: int) -> str:
        account, listener = name_in(request, "account"), request.match_info["listener"]
        match await self._listeners.renew(account, listener, lease_ms):
            case "live":
                for each in await self._listeners.live():
                    if each.id == listener:
                        await self._check_allowed(account, each.number)
                return listener
            case "replaced":
                raise Conflict("a newer listener has its number or call", "replaced")
            case "ended":
                raise _not_found(listener)

    async def _number_of(self, account: str, call_id: str) -> str:
        call = await self.calls.read(call_id)
        if call is None or call.account != account:
            raise NotFound(f"no call {call_id}")
        return call.own_number

    async def _check_allowed(self, account: str, number: str) -> None:
        if not await allows_listeners(self.store, account, number):
            text = f"the route of {number} does not allow listeners: set allowListeners there"
            raise Conflict(text, "listeners_not_allowed")


def _not_found(listener: str) -> NotFound:
    return NotFound(f"no listener {listener}")
