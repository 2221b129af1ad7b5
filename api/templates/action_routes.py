"""Actions on templates over REST: header media uploads, test messages, status synchronization."""

from api.auth.dependencies import AuthenticatedUser
from api.http.multipart import MultipartForm, form_schema
from api.http.routes import Body, Routes
from api.templates import examples
from api.templates.dependencies import BASE, PLATFORM_ERRORS, Slice
from api.templates.media import KINDS, MAX_BYTES
from api.templates.schemas import SyncResult, TestMessageRequest, TestMessageResult, UploadResult

routes = Routes("Message templates")
UPLOAD = f"{BASE}/upload-header-media"
FORM_BYTES = 65_536  # of a form, beside its file
_FORM = form_schema(
    {"mediaKind": {"type": "string", "enum": list(KINDS)}},
    ("file", "mediaKind"),
    {"file": "(the file)", "mediaKind": "image"},
)


@routes.post(
    UPLOAD,
    id="templates.uploadMedia",
    scope="templates:write",
    errors=(*PLATFORM_ERRORS, 413),
    form=_FORM,
    body_size=lambda _settings: MAX_BYTES + FORM_BYTES,
)
async def upload_header_media(
    user: AuthenticatedUser, services: Slice, form: MultipartForm
) -> UploadResult:
    """Upload a header's image, video or document.

    The header's example refers to it by the returned handle.
    """
    file, kind = form.required_file(), form.field("mediaKind")
    name, size = file.filename or "", file.size or 0
    return await services.media.upload(user.account_id, file.file, size, kind, name)


@routes.post(
    f"{BASE}/test-send",
    id="templates.testSend",
    scope="templates:write",
    errors=(*PLATFORM_ERRORS, 409),
    example=examples.TEST,
    idempotent=True,
)
async def test_send(
    user: AuthenticatedUser, services: Slice, body: Body[TestMessageRequest]
) -> TestMessageResult:
    """Send a template as a test message, with values for its placeholders."""
    return await services.test_sender.send(user.account_id, body)


@routes.post(
    f"{BASE}/sync-status",
    id="templates.syncStatus",
    scope="templates:write",
    errors=PLATFORM_ERRORS,
)
async def sync_status(user: AuthenticatedUser, services: Slice) -> SyncResult:
    """Synchronize the statuses of all templates with the messaging platform."""
    return await services.sync.sync(user.account_id)
