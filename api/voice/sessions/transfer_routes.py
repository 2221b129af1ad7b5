"""Transfers over REST (docs/sessions.md)."""

from api.auth.dependencies import AuthenticatedUser
from api.http.routes import Body, Routes
from api.voice import examples
from api.voice.dependencies import CONTROL_ERRORS, READ_ERRORS, CallId, Sessions
from api.voice.routes import BASE, BASES, naming_by_path
from api.voice.schemas import check_call_id
from api.voice.sessions.schemas import (
    CancelTransferRequest,
    CompleteTransferRequest,
    TransferByPathRequest,
    TransferReference,
    TransferRequest,
)
from wire.control import TransferView

routes = Routes("Transfers")


@routes.post(
    f"{BASE}/transfer/init",
    id="transfers.startByBody",
    alias_of="transfers.start",
    scope="calls:own",
    returns=TransferView,
    errors=CONTROL_ERRORS,
    example={"callId": examples.CALL, **examples.TRANSFER_BODY},
    idempotent=True,
)
async def transfer_init(
    user: AuthenticatedUser, sessions: Sessions, body: Body[TransferRequest]
) -> bytes:
    """Start a transfer of the customer to another party."""
    return await sessions.start_transfer(user, body.call_id, body)


async def transfer_init_by_path(
    call_id: CallId, user: AuthenticatedUser, sessions: Sessions, body: Body[TransferByPathRequest]
) -> bytes:
    """Start a transfer of this call's customer to another party."""
    check_call_id(call_id, body.call_id)
    return await sessions.start_transfer(user, call_id, body)


for _base in BASES:
    routes.post(
        f"{_base}/call/{{callId}}/transfer/init",
        **naming_by_path(_base, "transfers.start"),
        scope="calls:own",
        returns=TransferView,
        errors=CONTROL_ERRORS,
        example=examples.TRANSFER_BODY,
        idempotent=True,
    )(transfer_init_by_path)


@routes.post(
    f"{BASE}/transfer/complete",
    id="transfers.complete",
    scope="calls:own",
    returns=TransferView,
    errors=CONTROL_ERRORS,
    example=examples.COMPLETE,
)
async def transfer_complete(
    user: AuthenticatedUser, sessions: Sessions, body: Body[CompleteTransferRequest]
) -> bytes:
    """Complete a transfer: the source leaves.

    While the target rings, this makes the transfer blind.
    """
    return await sessions.complete_transfer(user, body)


@routes.post(
    f"{BASE}/transfer/cancel",
    id="transfers.cancel",
    scope="calls:own",
    returns=TransferView,
    errors=CONTROL_ERRORS,
    example=examples.CANCEL,
)
async def transfer_cancel(
    user: AuthenticatedUser, sessions: Sessions, body: Body[CancelTransferRequest]
) -> bytes:
    """Cancel a transfer: customer and agent are connected again."""
    return await sessions.cancel_transfer(user, body)


@routes.post(
    f"{BASE}/transfer/status",
    id="transfers.get",
    scope="calls:own",
    returns=TransferView,
    errors=READ_ERRORS,
    example=examples.TRANSFER,
)
async def transfer_status(
    user: AuthenticatedUser, sessions: Sessions, body: Body[TransferReference]
) -> bytes:
    """Show a transfer, live or ended."""
    return await sessions.show_transfer(user, body)
