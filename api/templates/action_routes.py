"""What else is done with templates: files for headers, test messages, statuses asked for."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from msgspec.json import encode

from api.auth.dependencies import AuthenticatedUser
from api.http.idempotency import IdempotencyKey
from api.http.msgspec_adapter import answer, described, reading
from api.http.multipart import form_schema, read_form
from api.http.responses import once, told
from api.templates import examples
from api.templates.dependencies import BASE, READ_ERRORS, Slice
from api.templates.media import KINDS
from api.templates.schemas import SyncResult, TestSendBody, TestSendResult, UploadResult

router = APIRouter(tags=["Message templates"])
UPLOAD = f"{BASE}/upload-header-media"
_FORM = form_schema(
    {"mediaKind": {"type": "string", "enum": list(KINDS)}},
    ("file", "mediaKind"),
    {"file": "(the file)", "mediaKind": "image"},
)


@router.post(
    UPLOAD,
    **described(
        "Upload a header's file", answered=UploadResult, statuses=(*READ_ERRORS, 413), form=_FORM
    ),
)
async def upload_header_media(request: Request, who: AuthenticatedUser, parts: Slice) -> Response:
    """Upload an image, a video or a document; a header's example names it by its handle."""
    async with read_form(request) as form:
        file, kind = form.required_file(), form.field("mediaKind")
        name, size = file.filename or "", file.size or 0
        return answer(await parts.media.upload(who.account_id, file.file, size, kind, name))


@router.post(
    f"{BASE}/test-send",
    **described(
        "Send a template as a test",
        asked=TestSendBody,
        answered=TestSendResult,
        statuses=(*READ_ERRORS, 409),
        example=examples.TEST,
    ),
)
async def send_as_test(
    request: Request,
    who: AuthenticatedUser,
    parts: Slice,
    asked: Annotated[TestSendBody, Depends(reading(TestSendBody))],
    key: IdempotencyKey = None,
) -> Response:
    """Send one message of a template, with values for its placeholders."""

    async def deed(_request_id: str) -> bytes:
        return encode(await parts.sending.send(who.account_id, asked))

    return told(await once(request, who, key, deed))


@router.post(
    f"{BASE}/sync-status",
    **described("Bring statuses up to date", answered=SyncResult, statuses=READ_ERRORS),
)
async def sync_status(who: AuthenticatedUser, parts: Slice) -> Response:
    """Ask the messaging platform for all templates of the business account."""
    return answer(await parts.sync.sync(who.account_id))
