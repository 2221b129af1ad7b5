"""`/srmain/msgapp_templates`, `/srmain/msgapp-webhook`: templates, and notifications about them.

Each account sees its own (docs/messaging.md). Notifications are authenticated by signature.
"""

import asyncio
from typing import Annotated

from fastapi import Header, Path, Query, Request, Response
from fastapi.responses import PlainTextResponse
from msgspec import Struct

from api.auth.dependencies import AuthenticatedUser
from api.auth.throttle import network_of
from api.common.errors import ServiceUnavailable
from api.http.multipart import MultipartForm, form_schema
from api.http.routes import Body, Routes
from api.http.services import service
from api.numbers.schemas import DeletionResult
from api.templates import schemas
from api.templates.media import KINDS, MAX_BYTES
from api.templates.service import TemplateSlice
from api.templates.webhook import PlatformNotification
from base.fair_slots import FairSlots
from base.limit import Limit

BASE = "/srmain/msgapp_templates"
PLATFORM_ERRORS = (429, 503)  # of requests that the messaging platform has to answer
Slice = Annotated[TemplateSlice, service("templates")]
TemplateId = Annotated[str, Path(alias="id")]
NEW_EXAMPLE = {
    "name": "order_sent",
    "language": "en_US",
    "category": "UTILITY",
    "phoneNumberId": "106540352242922",
    "components": [
        {
            "type": "BODY",
            "text": "Hello {{1}}, your order {{2}} is on its way.",
            "example": {"body_text": [["Ada", "4711"]]},
        },
        {"type": "FOOTER", "text": "Example Shop"},
        {
            "type": "BUTTONS",
            "buttons": [
                {
                    "type": "URL",
                    "text": "Where is it?",
                    "url": "https://example.com/orders/{{1}}",
                    "example": ["4711"],
                }
            ],
        },
    ],
}
CHANGE_EXAMPLE = {"footerText": "Example Shop, Oslo"}
TEST_EXAMPLE = {
    "templateId": "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
    "phoneNumber": "+4722222222",
    "variableValues": {"1": "Ada", "2": "4711", "buttons.0.1": "4711"},
}
NOTIFICATION_EXAMPLE = {
    "object": "business_account",
    "entry": [
        {
            "id": "102290129340398",
            "time": 1751247548,
            "changes": [
                {
                    "field": "message_template_status_update",
                    "value": {
                        "event": "APPROVED",
                        "message_template_id": 1689556908129832,
                        "message_template_name": "order_sent",
                        "message_template_language": "en-US",
                        "reason": "NONE",
                    },
                }
            ],
        }
    ],
}
routes = Routes("Message templates")
UPLOAD = f"{BASE}/upload-header-media"
FORM_BYTES = 65_536  # of a form, beside its file
_FORM = form_schema(
    {"mediaKind": {"type": "string", "enum": list(KINDS)}},
    ("file", "mediaKind"),
    {"file": "(the file)", "mediaKind": "image"},
)
PATH = "/srmain/msgapp-webhook"
MAX_NOTIFICATION_BYTES: Annotated[  # its documentation: a webhook's payload has up to 3 MB
    int, Limit("request", "413 `too_large`", "Size of a notification of the messaging platform.")
] = 3_145_728
SMALL_BYTES = 65_536  # some hundred statuses
LARGE_BODY_S = 30.0


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
) -> schemas.UploadResult:
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
    example=TEST_EXAMPLE,
    idempotent=True,
)
async def test_send(
    user: AuthenticatedUser, services: Slice, body: Body[schemas.TestMessageRequest]
) -> schemas.TestMessageResult:
    """Send a template as a test message, with values for its placeholders."""
    return await services.test_sender.send(user.account_id, body)


@routes.post(
    f"{BASE}/sync-status",
    id="templates.syncStatus",
    scope="templates:write",
    errors=PLATFORM_ERRORS,
)
async def sync_status(user: AuthenticatedUser, services: Slice) -> schemas.SyncResult:
    """Synchronize the statuses of all templates with the messaging platform."""
    return await services.sync.sync(user.account_id)


@routes.post(
    BASE,
    id="templates.create",
    scope="templates:write",
    status=201,
    errors=(*PLATFORM_ERRORS, 409),
    example=NEW_EXAMPLE,
    idempotent=True,
)
async def create_template(
    user: AuthenticatedUser, services: Slice, body: Body[schemas.NewTemplate]
) -> schemas.TemplateView:
    """Create a template.

    It is checked here, created on the messaging platform, and stored with the platform's status.
    """
    return await services.templates.create(user.account_id, body)


@routes.get(BASE, id="templates.list", scope="templates:read")
async def list_templates(
    user: AuthenticatedUser, query: Annotated[schemas.TemplateListQuery, Query()], services: Slice
) -> schemas.TemplatePage:
    """List templates, newest first."""
    return await services.templates.list(user.account_id, query)


@routes.get(f"{BASE}/{{id}}", id="templates.get", scope="templates:read", errors=(404,))
async def get_template(
    template_id: TemplateId, user: AuthenticatedUser, services: Slice
) -> schemas.TemplateView:
    """Show a template as it is stored."""
    return await services.templates.get(user.account_id, template_id)


@routes.patch(
    f"{BASE}/{{id}}",
    id="templates.update",
    scope="templates:write",
    errors=(*PLATFORM_ERRORS, 404, 409),
    example=CHANGE_EXAMPLE,
)
async def change_template(
    template_id: TemplateId,
    user: AuthenticatedUser,
    services: Slice,
    body: Body[schemas.TemplateChange],
) -> schemas.TemplateView:
    """Change a template.

    A change of its content is made on the messaging platform, too.
    """
    return await services.templates.change(user.account_id, template_id, body)


@routes.delete(
    f"{BASE}/{{id}}", id="templates.delete", scope="templates:write", errors=(*PLATFORM_ERRORS, 404)
)
async def delete_template(
    template_id: TemplateId, user: AuthenticatedUser, services: Slice
) -> DeletionResult:
    """Delete a template, here and on the messaging platform, in its one language."""
    return await services.templates.delete(user.account_id, template_id)


class WebhookResult(Struct, frozen=True):
    """How many template statuses were updated."""

    noted: int


@routes.get(PATH, id="messagingWebhook.verify", errors=(401, 404), response_class=PlainTextResponse)
async def verify_webhook(
    services: Slice,
    mode: Annotated[str, Query(alias="hub.mode", max_length=64)],
    token: Annotated[str, Query(alias="hub.verify_token", max_length=1_024)],
    challenge: Annotated[str, Query(alias="hub.challenge", max_length=1_024)],
) -> Response:
    """Return the messaging platform's challenge when its webhook is set up."""
    return PlainTextResponse(services.webhook.challenge(mode, token, challenge))


@routes.post(
    PATH,
    id="messagingWebhook.receive",
    accepts=PlatformNotification,
    errors=(401, 404, 503),
    body_size=lambda _settings: MAX_NOTIFICATION_BYTES,
    example=NOTIFICATION_EXAMPLE,
)
async def receive_webhook(
    request: Request,
    services: Slice,
    signature: Annotated[str, Header(alias="X-Hub-Signature-256", max_length=128)] = "",
) -> WebhookResult:
    """Receive template statuses from the messaging platform."""
    services.webhook.check_header(signature)
    body = await _read(request, services.large_bodies)
    services.webhook.verify_signature(body, signature)
    return WebhookResult(await services.webhook.process(body))


async def _read(request: Request, large_bodies: FairSlots) -> bytes:
    """Read a body; raises ServiceUnavailable if a large one takes too long."""
    body, stream = bytearray(), request.stream()
    async for part in stream:
        body += part
        if len(body) > SMALL_BYTES:
            break
    else:
        return bytes(body)
    address = request.client.host if request.client else ""
    try:
        async with asyncio.timeout(LARGE_BODY_S), large_bodies.slot(network_of(address)):
            async for part in stream:
                body += part
    except TimeoutError:
        text = f"a body of more than {SMALL_BYTES} bytes takes at most {LARGE_BODY_S:g} s"
        raise ServiceUnavailable(text, retry_after_s=1) from None
    return bytes(body)
