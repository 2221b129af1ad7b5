"""`/srmain/msgapp-webhook`: what the messaging platform tells; its signature says who it is."""

from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import PlainTextResponse
from msgspec import Struct

from api.http.msgspec_adapter import answer, described
from api.templates import examples
from api.templates.dependencies import Slice
from api.templates.webhook import Notice

router = APIRouter(tags=["Message templates"])
PATH = "/srmain/msgapp-webhook"
MAX_BYTES = 3_145_728  # its documentation: a webhook's payload has up to 3 MB


class WebhookResult(Struct, frozen=True):
    """How many statuses of ours were told."""

    noted: int


@router.get(
    PATH,
    **described("Prove that this webhook is ours", statuses=(401, 404)),
    response_class=PlainTextResponse,
)
async def verify_webhook(
    parts: Slice,
    mode: Annotated[str, Query(alias="hub.mode", max_length=64)],
    token: Annotated[str, Query(alias="hub.verify_token", max_length=1_024)],
    challenge: Annotated[str, Query(alias="hub.challenge", max_length=1_024)],
) -> Response:
    """Give the messaging platform's challenge back, when its webhook is set up."""
    return PlainTextResponse(parts.webhook.challenge(mode, token, challenge))


@router.post(
    PATH,
    **described(
        "Be told by the messaging platform",
        asked=Notice,
        answered=WebhookResult,
        statuses=(401, 404, 503),
        example=examples.NOTICE,
    ),
)
async def receive_webhook(
    request: Request,
    parts: Slice,
    signature: Annotated[str, Header(alias="X-Hub-Signature-256", max_length=128)] = "",
) -> Response:
    """Note the statuses that the messaging platform tells."""
    body = await request.body()
    parts.webhook.check(body, signature)
    return answer(WebhookResult(await parts.webhook.take(body)))
