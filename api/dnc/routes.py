"""`/srmain/dnc…`: the token in the path authenticates alone, so that links in mails work."""

from typing import Annotated, TypedDict

from fastapi import Path, Request

from api.dnc.schemas import DncEntry, DncEntryView
from api.dnc.service import DncService
from api.dnc.tokens import parse_token_id
from api.http.routes import BodyOrQuery, Routes
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


def _audited(request: Request, token: str, entry: DncEntryView) -> DncEntryView:
    """Name the account and the token for logs and the audit trail, which has no numbers."""
    request.state.account_id = entry.account_id
    request.state.actor = f"dnc-token:{parse_token_id(token)}"
    return entry
