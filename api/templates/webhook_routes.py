"""`/srmain/msgapp-webhook`: notifications of the messaging platform, authenticated by signature.

The signature can be verified at the end of a body only, so anybody can send one. A large body needs
a place until then, of which the senders of one network have one.
"""

import asyncio
from typing import Annotated

from fastapi import Header, Query, Request, Response
from fastapi.responses import PlainTextResponse
from msgspec import Struct

from api.auth.throttle import network_of
from api.common.errors import ServiceUnavailable
from api.http.routes import Routes
from api.templates import examples
from api.templates.dependencies import Slice
from api.templates.webhook import PlatformNotification
from base.fair_slots import FairSlots
from base.limit import Limit

routes = Routes("Message templates")
PATH = "/srmain/msgapp-webhook"
MAX_BYTES: Annotated[  # its documentation: a webhook's payload has up to 3 MB
    int, Limit("request", "413 `too_large`", "Size of a notification of the messaging platform.")
] = 3_145_728
SMALL_BYTES = 65_536  # some hundred statuses
LARGE_BODY_S = 30.0


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
