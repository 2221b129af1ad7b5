"""Downloads over REST (docs/contacts.md)."""

from typing import Annotated

from fastapi import Depends
from fastapi.responses import StreamingResponse

from api.auth.dependencies import AuthenticatedUser
from api.contacts.exports.service import (
    CONTENT_TYPES,
    ContactDownload,
    ContactDownloadPage,
    ContactDownloadRequest,
    DownloadService,
)
from api.contacts.ids import BASE, IdPath, ListIdPath
from api.http.paging import Page, paging
from api.http.routes import Body, Routes
from api.http.services import service

routes = Routes("Contacts")
REQUESTS = f"{BASE}/download-requests"
Downloads = Annotated[DownloadService, service("contacts.downloads")]
PageQuery = Annotated[Page, Depends(paging(default=10))]


@routes.post(
    REQUESTS,
    id="downloads.create",
    scope="contacts:export",
    status=201,
    errors=(409, 429),
    example={"contactListId": "17", "format": "xlsx"},
    idempotent=True,
)
async def start_download(
    user: AuthenticatedUser, downloads: Downloads, body: Body[ContactDownloadRequest]
) -> ContactDownload:
    """Start writing a list's contacts to a file, in the background."""
    return await downloads.start(user.account_id, body)


@routes.get(REQUESTS, id="downloads.list", scope="contacts:export")
async def list_downloads(
    user: AuthenticatedUser, page: PageQuery, downloads: Downloads
) -> ContactDownloadPage:
    """List the downloads and e-mails of the last week, newest first."""
    return await downloads.list(user.account_id, page)


@routes.get(f"{REQUESTS}/{{id}}", id="downloads.get", scope="contacts:export", errors=(404,))
async def get_download(
    download_id: IdPath, user: AuthenticatedUser, downloads: Downloads
) -> ContactDownload:
    """Show a download's progress."""
    return await downloads.get(user.account_id, download_id)


@routes.get(
    f"{REQUESTS}/{{id}}/download",
    id="downloads.download",
    scope="contacts:export",
    errors=(404, 409),
    has_file=True,
)
async def download(
    download_id: IdPath, user: AuthenticatedUser, downloads: Downloads
) -> StreamingResponse:
    """Download the file."""
    kind, content = await downloads.content(user.account_id, download_id)
    headers = {"Content-Disposition": f'attachment; filename="contacts-{download_id}.{kind}"'}
    return StreamingResponse(content, media_type=CONTENT_TYPES[kind], headers=headers)


@routes.get(
    f"{BASE}/{{contactListId}}/export",
    id="contactLists.export",
    scope="contacts:export",
    errors=(404, 409, 429, 503),
    idempotent=True,
)
async def email_contacts(
    list_id: ListIdPath, user: AuthenticatedUser, downloads: Downloads
) -> ContactDownload:
    """Send a list's contacts as CSV to the account's e-mail address, in the background."""
    return await downloads.send(user.account_id, list_id)
