"""Transfers over REST (spec, "Voice")."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from api.auth.dependencies import AuthenticatedUser
from api.http.idempotency import IdempotencyKey
from api.http.msgspec_adapter import described, reading
from api.http.responses import once, told
from api.voice import examples
from api.voice.dependencies import CONTROL_ERRORS, READ_ERRORS, CallId, Sessions
from api.voice.routes import BASE, OTHER_BASES
from api.voice.sessions.schemas import (
    CallTransferBody,
    TransferBody,
    TransferCancelBody,
    TransferCompleteBody,
    TransferInitBody,
)
from wire.control import TransferView

router = APIRouter(tags=["Transfers"])


@router.post(
    f"{BASE}/transfer/init",
    **described(
        "Begin a transfer",
        asked=TransferInitBody,
        answered=TransferView,
        statuses=CONTROL_ERRORS,
        example={"callId": examples.CALL, **examples.TRANSFER_BODY},
    ),
)
async def transfer_init(
    request: Request,
    who: AuthenticatedUser,
    sessions: Sessions,
    asked: Annotated[TransferInitBody, Depends(reading(TransferInitBody))],
    key: IdempotencyKey = None,
) -> Response:
    """Begin to hand the customer to somebody else."""

    async def deed(_request_id: str) -> bytes:
        return await sessions.begin(who, asked.call_id, asked)

    return told(await once(request, who, key, deed))


def _transfer_init_of(base: str) -> None:
    @router.post(
        f"{base}/call/{{callId}}/transfer/init",
        **described(
            "Begin a transfer of this call",
            asked=CallTransferBody,
            answered=TransferView,
            statuses=CONTROL_ERRORS,
            example=examples.TRANSFER_BODY,
        ),
    )
    async def transfer_init_of(  # noqa: PLR0913, PLR0917 - what it is given
        call_id: CallId,
        request: Request,
        who: AuthenticatedUser,
        sessions: Sessions,
        asked: Annotated[CallTransferBody, Depends(reading(CallTransferBody))],
        key: IdempotencyKey = None,
    ) -> Response:
        """Begin to hand the customer to somebody else."""

        async def deed(_request_id: str) -> bytes:
            return await sessions.begin(who, call_id, asked)

        return told(await once(request, who, key, deed))


for _base in OTHER_BASES:
    _transfer_init_of(_base)


@router.post(
    f"{BASE}/transfer/complete",
    **described(
        "Complete a transfer",
        asked=TransferCompleteBody,
        answered=TransferView,
        statuses=CONTROL_ERRORS,
        example=examples.COMPLETE,
    ),
)
async def transfer_complete(
    who: AuthenticatedUser,
    sessions: Sessions,
    asked: Annotated[TransferCompleteBody, Depends(reading(TransferCompleteBody))],
) -> Response:
    """Leave the source out; while the target rings, this makes the transfer blind."""
    return told(await sessions.complete(who, asked))


@router.post(
    f"{BASE}/transfer/cancel",
    **described(
        "Cancel a transfer",
        asked=TransferCancelBody,
        answered=TransferView,
        statuses=CONTROL_ERRORS,
        example=examples.CANCEL,
    ),
)
async def transfer_cancel(
    who: AuthenticatedUser,
    sessions: Sessions,
    asked: Annotated[TransferCancelBody, Depends(reading(TransferCancelBody))],
) -> Response:
    """Bring customer and agent back together."""
    return told(await sessions.cancel(who, asked))


@router.post(
    f"{BASE}/transfer/status",
    **described(
        "Show a transfer",
        asked=TransferBody,
        answered=TransferView,
        statuses=READ_ERRORS,
        example=examples.TRANSFER,
    ),
)
async def transfer_status(
    who: AuthenticatedUser,
    sessions: Sessions,
    asked: Annotated[TransferBody, Depends(reading(TransferBody))],
) -> Response:
    """Show a transfer, live or ended."""
    return told(await sessions.status(who, asked))
