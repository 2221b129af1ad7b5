"""Transfers over REST (spec, "Voice")."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from api.auth.routes import Authenticated
from api.http.idempotency import Key
from api.http.msgspec_adapter import described, reading
from api.http.responses import once, told
from api.voice import examples
from api.voice.dependencies import SHOWN, STEERED, CallId, Sessions
from api.voice.routes import BASE, OTHER_BASES
from api.voice.sessions.schemas import (
    OfTransfer,
    OfTransferInit,
    TransferCancel,
    TransferComplete,
    TransferInit,
)
from wire.control import TransferView

router = APIRouter(tags=["Transfers"])


@router.post(
    f"{BASE}/transfer/init",
    **described(
        "Begin a transfer",
        asked=TransferInit,
        answered=TransferView,
        statuses=STEERED,
        example={"callId": examples.CALL, **examples.TRANSFER_BODY},
    ),
)
async def transfer_init(
    request: Request,
    who: Authenticated,
    sessions: Sessions,
    asked: Annotated[TransferInit, Depends(reading(TransferInit))],
    key: Key = None,
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
            asked=OfTransferInit,
            answered=TransferView,
            statuses=STEERED,
            example=examples.TRANSFER_BODY,
        ),
    )
    async def transfer_init_of(  # noqa: PLR0913, PLR0917 - what it is given
        call_id: CallId,
        request: Request,
        who: Authenticated,
        sessions: Sessions,
        asked: Annotated[OfTransferInit, Depends(reading(OfTransferInit))],
        key: Key = None,
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
        asked=TransferComplete,
        answered=TransferView,
        statuses=STEERED,
        example=examples.COMPLETE,
    ),
)
async def transfer_complete(
    who: Authenticated,
    sessions: Sessions,
    asked: Annotated[TransferComplete, Depends(reading(TransferComplete))],
) -> Response:
    """Leave the source out; while the target rings, this makes the transfer blind."""
    return told(await sessions.complete(who, asked))


@router.post(
    f"{BASE}/transfer/cancel",
    **described(
        "Cancel a transfer",
        asked=TransferCancel,
        answered=TransferView,
        statuses=STEERED,
        example=examples.CANCEL,
    ),
)
async def transfer_cancel(
    who: Authenticated,
    sessions: Sessions,
    asked: Annotated[TransferCancel, Depends(reading(TransferCancel))],
) -> Response:
    """Bring customer and agent back together."""
    return told(await sessions.cancel(who, asked))


@router.post(
    f"{BASE}/transfer/status",
    **described(
        "Show a transfer",
        asked=OfTransfer,
        answered=TransferView,
        statuses=SHOWN,
        example=examples.TRANSFER,
    ),
)
async def transfer_status(
    who: Authenticated,
    sessions: Sessions,
    asked: Annotated[OfTransfer, Depends(reading(OfTransfer))],
) -> Response:
    """Show a transfer, live or ended."""
    return told(await sessions.status(who, asked))
