"""`/srmain/dnc…`: the token in the path is all that is asked for; links in mails can have it."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response

from api.dnc.schemas import Entry, EntryView
from api.dnc.service import DncService
from api.http.msgspec_adapter import answer, described, reading

router = APIRouter(tags=["Do not call"])
BASE = "/srmain/dnc"
EXAMPLE = {"phoneNo": "+4790000000", "provider": "example-telecom"}
BY_QUERY = ("phoneNo", "provider", "accountId", "isActive")
ENTRY: dict[str, Any] = {
    "asked": Entry,
    "answered": EntryView,
    "statuses": (401, 503),
    "example": EXAMPLE,
}


async def _service(request: Request) -> DncService:
    found: DncService = request.app.state.services.dnc
    return found


Dnc = Annotated[DncService, Depends(_service)]
Token = Annotated[str, Path(description="The account's do-not-call token.", max_length=128)]
EntryBody = Annotated[Entry, Depends(reading(Entry, by_query=True))]


def _said(summary: str, status: int) -> dict[str, Any]:
    return described(summary, status=status, by_query=BY_QUERY, **ENTRY)


@router.get(f"{BASE}/subscribe/{{token}}", **_said("Put a number on the do-not-call list", 201))
@router.post(f"{BASE}/subscribe/{{token}}", **_said("Put a number on the do-not-call list", 201))
async def subscribe(token: Token, dnc: Dnc, asked: EntryBody) -> Response:
    """Let a number be called no more."""
    return answer(await dnc.subscribe(token, asked), 201)


@router.get(f"{BASE}/unsubscribe/{{token}}", **_said("Take a number off the list", 200))
@router.post(f"{BASE}/unsubscribe/{{token}}", **_said("Take a number off the list", 200))
async def unsubscribe(token: Token, dnc: Dnc, asked: EntryBody) -> Response:
    """Let a number be called again."""
    return answer(await dnc.unsubscribe(token, asked))
