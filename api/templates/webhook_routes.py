"""`/srmain/msgapp-webhook`: notifications of the messaging platform, authenticated by signature."""

from typing import Annotated

from fastapi import Header, Query, Request, Response
from fastapi.responses import PlainTextResponse
from msgspec import Struct

from api.http.routes import Routes
from api.templates import examples
from api.templates.dependencies import Slice
from api.templates.webhook import PlatformNotification

routes = Routes("Message templates")
PATH = "/srmain/msgapp-webhook"
MAX_BYTES = 3_145_728  # its documentation: a webhook's payload has up to 3 MB


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
    body_size=lambda _settings: MAX_BYTES,
    example=examples.NOTIFICATION,
)
async def receive_webhook(
    request: Request,
    services: Slice,
    signature: Annotated[str, Header(alias="X-Hub-Signature-256", max_length=128)] = "",
) -> WebhookResult:
    """Receive template statuses from the messaging platform."""
    body = await request.body()
    services.webhook.verify_signature(body, signature)
    return WebhookResult(await services.webhook.process(body))
