"""Operations on listeners: what an account may listen to is checked here, the rest by an engine."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from api.accounts.store import AccountStore
from api.common.errors import NotFound
from api.engine_client import EngineClient, call_path, id_in_path
from api.voice.listeners.schemas import ListenerList, ListenerView, RequestsQuery, listener_view
from wire.decoding.errors import BadInput
from wire.decoding.messages import decode_message
from wire.listeners import Listener, ListenerRequests, ListenerResponse, Listeners, NewListener
from wire.phone_numbers.e164 import spellings
from wire.views import CallView

POLL_S = 1.0  # a client that has disconnected is noticed between two polls
FIRST = "0-0"  # the position before the first request
IsConnected = Callable[[], Awaitable[bool]]


class ListenerService(Struct, frozen=True):
    engine: EngineClient
    accounts: AccountStore

    async def create(self, account_id: str, body: NewListener) -> ListenerView:
        """Start a listener; raises NotFound for a number or call of another account."""
        if (body.number is None) == (body.call_id is None):
            raise BadInput("number", "one of number or callId is required")
        if body.number is not None:
            number = _own_number(body.number, await self.accounts.numbers(account_id))
            body = replace(body, number=number)
        if body.call_id is not None:
            await self._check_call(account_id, body.call_id)
        path = _path(account_id)
        return listener_view(await self.engine.request(Listener, "POST", path, body))

    async def list(self, account_id: str) -> ListenerList:
        found = await self.engine.request(Listeners, "GET", _path(account_id))
        listeners = sorted(found.listeners, key=lambda each: (each.created_ms, each.id))
        return ListenerList(tuple(map(listener_view, listeners)), len(listeners))

    async def requests(
        self, account_id: str, listener: str, query: RequestsQuery, is_connected: IsConnected
    ) -> ListenerRequests:
        """Wait for requests; a listener whose client has disconnected ends."""
        path = f"{_path(account_id, listener)}/requests"
        loop = asyncio.get_running_loop()
        until_s = loop.time() + query.wait
        while True:
            wait_s = max(0.0, min(POLL_S, until_s - loop.time()))
            sent = {"after": query.after or FIRST, "waitMs": str(round(wait_s * 1000))}
            found = await self.engine.request(ListenerRequests, "GET", path, query=sent)
            if found.requests or loop.time() >= until_s or not await is_connected():
                return found

    async def respond(
        self, account_id: str, listener: str, request: str, body: ListenerResponse
    ) -> None:
        """Send a response; raises Conflict if no call waits for it."""
        path = f"{_path(account_id, listener)}/responses/{id_in_path(request)}"
        await self.engine.request(dict[str, Any], "POST", path, body)

    async def delete(self, account_id: str, listener: str) -> None:
        await self.engine.request(dict[str, Any], "DELETE", _path(account_id, listener))

    async def _check_call(self, account_id: str, call_id: str) -> None:
        query = {"account": account_id}
        view = await self.engine.request_raw("GET", call_path(call_id), query=query)
        if decode_message(view, CallView).ended_ms:
            raise NotFound(f"call {call_id} has ended", "call_ended")


def _path(account_id: str, listener: str = "") -> str:
    path = f"/listeners/{id_in_path(account_id)}"
    return f"{path}/{id_in_path(listener)}" if listener else path


def _own_number(given: str, numbers: tuple[str, ...]) -> str:
    others = set(spellings(given))
    for number in numbers:
        if not others.isdisjoint(spellings(number)):
            return number
    raise NotFound(f"number: the account has no number {given}", "not_found")
