"""`/srmain/dnc…`: the account's list.

With `subscribe` and `unsubscribe`, the token in the path authenticates alone, so that links in
mails work. The other routes need a scope.
"""

from typing import Annotated, TypedDict

from fastapi import Path, Query, Request

from api.auth.dependencies import AuthenticatedUser
from api.dnc.schemas import DncEntry, DncEntryView, DncPage, EntryQuery, RemovedEntry
from api.dnc.service import DncService
from api.dnc.tokens import parse_token_id
from api.http.routes import Body, BodyOrQuery, Routes
from api.http.services import service

routes = Routes("Do not call")
BASE = "/srmain/dnc"
Dnc = Annotated[DncService, service("dnc")]
Token = Annotated[str, Path(description="The account's do-not-call token.", max_length=128)]


class _EntryOptions(TypedDict):
    query: tuple[str, ...]
    errors: tuple[int, ...]
    example: dict[str, str]


ENTRY = _EntryOptions(
    query=("phoneNo", "provider", "accountId", "isActive"),
    errors=(401, 503),
    example={"phoneNo": "+4790000000", "provider": "example-telecom"},
)


@routes.get(f"{BASE}/subscribe/{{token}}", id="doNotCall.addByLink", **ENTRY, status=201)
@routes.post(f"{BASE}/subscribe/{{token}}", id="doNotCall.add", **ENTRY, status=201)
async def subscribe(
    request: Request, token: Token, dnc: Dnc, entry: BodyOrQuery[DncEntry]
) -> DncEntryView:
    """Put a number on the do-not-call list."""
    return _audited(request, token, await dnc.subscribe(token, entry))


@routes.get(f"{BASE}/unsubscribe/{{token}}", id="doNotCall.removeByLink", **ENTRY)
@routes.post(f"{BASE}/unsubscribe/{{token}}", id="doNotCall.remove", **ENTRY)
async def unsubscribe(
    request: Request, token: Token, dnc: Dnc, entry: BodyOrQuery[DncEntry]
) -> DncEntryView:
    """Take a number off the do-not-call list."""
    return _audited(request, token, await dnc.unsubscribe(token, entry))


@routes.get(BASE, id="doNotCall.list", scope="contacts:read")
async def list_entries(
    user: AuthenticatedUser, query: Annotated[EntryQuery, Query()], dnc: Dnc
) -> DncPage:
    """List the do-not-call list, in the order of numbers; `phoneNo` checks a number.

    A number is not called while one of its entries is active. Removed entries are inactive.
    """
    return await dnc.list(user.account_id, query)


@routes.post(
    BASE,
    id="doNotCall.put",
    scope="contacts:write",
    status=201,
    errors=(503,),
    example=ENTRY["example"],
    idempotent=True,
)
async def put_entry(user: AuthenticatedUser, dnc: Dnc, entry: Body[DncEntry]) -> DncEntryView:
    """Put a number on the account's do-not-call list."""
    return await dnc.add(user.account_id, entry)


@routes.delete(BASE, id="doNotCall.delete", scope="contacts:write", errors=(503,))
async def delete_entry(
    user: AuthenticatedUser, entry: Annotated[RemovedEntry, Query()], dnc: Dnc
) -> DncEntryView:
    """Take a provider's entry off the account's do-not-call list; without one, do nothing."""
    return await dnc.remove(user.account_id, entry)


def _audited(request: Request, token: str, entry: DncEntryView) -> DncEntryView:
    """Name the account and the token for logs and the audit trail, which has no numbers."""
    request.state.account_id = entry.account_id
    request.state.actor = f"dnc-token:{parse_token_id(token)}"
    return entry
