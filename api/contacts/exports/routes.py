"""Downloads over REST (spec, "Contact lists and contacts")."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import StreamingResponse
from msgspec.json import encode

from api.auth.dependencies import AuthenticatedUser
from api.contacts.contacts.routes import BASE, SHOWN, slice_of
from api.contacts.exports.schemas import DownloadBody
from api.contacts.exports.service import CONTENT_TYPES, DownloadPage, DownloadService, DownloadView
from api.contacts.ids import IdPath, ListIdPath
from api.http.idempotency import IdempotencyKey
from api.http.msgspec_adapter import answer, described, reading
from api.http.paging import Page, paging
from api.http.responses import once, told

router = APIRouter(tags=["Contacts"])
REQUESTS = f"{BASE}/download-requests"


async def _downloads(request: Request) -> DownloadService:
    return slice_of(request).downloads


DownloadsOf = Annotated[DownloadService, Depends(_downloads)]


@router.post(
    REQUESTS,
    **described(
        "Ask for a list's contacts as a file",
        asked=DownloadBody,
        answered=DownloadView,
        status=201,
        statuses=(401, 409, 429),
        example={"contactListId": "17", "format": "xlsx"},
    ),
)
async def start(
    request: Request,
    who: AuthenticatedUser,
    body: Annotated[DownloadBody, Depends(reading(DownloadBody))],
    downloads: DownloadsOf,
    key: IdempotencyKey = None,
) -> Response:
    """Have a file made in the background."""

    async def deed(_request_id: str) -> bytes:
        return encode(await downloads.start(who.account_id, body))

    return told(await once(request, who, key, deed), 201)


@router.get(REQUESTS, **described("Downloads", answered=DownloadPage, statuses=(401,)))
async def listed(
    who: AuthenticatedUser,
    page: Annotated[Page, Depends(paging(default=10))],
    downloads: DownloadsOf,
) -> Response:
    """List the downloads of the last week, and what was sent by e-mail, newest first."""
    return answer(await downloads.listed(who.account_id, page))


@router.get(
    f"{REQUESTS}/{{id}}",
    **described("How far a download is", answered=DownloadView, statuses=SHOWN),
)
async def get(
    given_id: IdPath,
    who: AuthenticatedUser,
    downloads: DownloadsOf,
) -> Response:
    """Tell how far a download is."""
    return answer(await downloads.get(who.account_id, given_id))


@router.get(
    f"{REQUESTS}/{{id}}/download",
    **described("The file of a download", statuses=(*SHOWN, 409)),
)
async def download(
    given_id: IdPath,
    who: AuthenticatedUser,
    downloads: DownloadsOf,
) -> StreamingResponse:
    """Send a file."""
    kind, content = await downloads.content(who.account_id, given_id)
    headers = {"Content-Disposition": f'attachment; filename="contacts-{given_id}.{kind}"'}
    return StreamingResponse(content, media_type=CONTENT_TYPES[kind], headers=headers)


@router.get(
    f"{BASE}/{{contactListId}}/export",
    **described(
        "Send a list's contacts by e-mail",
        answered=DownloadView,
        statuses=(*SHOWN, 409, 429, 503),
    ),
)
async def export(
    request: Request,
    list_id: ListIdPath,
    who: AuthenticatedUser,
    downloads: DownloadsOf,
    key: IdempotencyKey = None,
) -> Response:
    """Have a list's contacts sent as CSV to the account's address, in the background."""

    async def deed(_request_id: str) -> bytes:
        return encode(await downloads.send(who.account_id, list_id))

    return told(await once(request, who, key, deed))
