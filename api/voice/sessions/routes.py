"""Transfers and conferences over REST (spec, "Voice")."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from api.auth.routes import Authenticated
from api.idempotency import Key
from api.shapes import described, reading
from api.voice import examples
from api.voice.providers import SHOWN, STEERED, Sessions, once, told
from api.voice.routes import BASE, OTHER_BASES
from api.voice.schemas import OfCall
from api.voice.sessions.schemas import (
    AddMembers,
    Kick,
    Leave,
    OfTransfer,
    OfTransferInit,
    TransferCancel,
    TransferComplete,
    TransferInit,
)
from wire.control import ConferenceView, TransferView

router = APIRouter(tags=["Transfers and conferences"])


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
        callId: str,  # noqa: N803
        request: Request,
        who: Authenticated,
        sessions: Sessions,
        asked: Annotated[OfTransferInit, Depends(reading(OfTransferInit))],
        key: Key = None,
    ) -> Response:
        """Begin to hand the customer to somebody else."""

        async def deed(_request_id: str) -> bytes:
            return await sessions.begin(who, callId, asked)

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


@router.post(
    f"{BASE}/conference/add-members",
    **described(
        "Call a member into a conference",
        asked=AddMembers,
        answered=ConferenceView,
        statuses=STEERED,
        example=examples.ADD,
    ),
)
async def add_members(
    request: Request,
    who: Authenticated,
    sessions: Sessions,
    asked: Annotated[AddMembers, Depends(reading(AddMembers))],
    key: Key = None,
) -> Response:
    """Call an agent or an outside number in; the first makes a conference of those who talk."""

    async def deed(_request_id: str) -> bytes:
        return await sessions.add(who, asked)

    return told(await once(request, who, key, deed))


@router.post(
    f"{BASE}/conference/kick",
    **described(
        "Put a member out",
        asked=Kick,
        answered=ConferenceView,
        statuses=STEERED,
        example=examples.KICK,
    ),
)
async def kick(
    who: Authenticated, sessions: Sessions, asked: Annotated[Kick, Depends(reading(Kick))]
) -> Response:
    """Put a member out."""
    return told(await sessions.kick(who, asked))


@router.post(
    f"{BASE}/conference/leave",
    **described(
        "Leave a conference",
        asked=Leave,
        answered=ConferenceView,
        statuses=STEERED,
        example=examples.LEAVE,
    ),
)
async def leave(
    who: Authenticated, sessions: Sessions, asked: Annotated[Leave, Depends(reading(Leave))]
) -> Response:
    """Let a member leave."""
    return told(await sessions.leave(who, asked))


@router.post(
    f"{BASE}/conference/members",
    **described(
        "Show the conference of a call",
        asked=OfCall,
        answered=ConferenceView,
        statuses=SHOWN,
        example={"callId": examples.CALL},
    ),
)
async def members(
    who: Authenticated, sessions: Sessions, asked: Annotated[OfCall, Depends(reading(OfCall))]
) -> Response:
    """Show the conference of a call, the live one or the last."""
    return told(await sessions.members(who, asked.call_id))


@router.get(
    f"{BASE}/conference/my",
    **described(
        "Show the conference of the token's agent", answered=ConferenceView, statuses=SHOWN
    ),
)
async def my_conference(who: Authenticated, sessions: Sessions) -> Response:
    """Show the live conference that the token's agent is in."""
    return told(await sessions.my(who))
