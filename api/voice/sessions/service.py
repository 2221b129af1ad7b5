"""Transfers and conferences of an account, mapped to the engine's requests."""

from typing import Any

from msgspec import Struct

from api.auth.service import Principal
from api.common.errors import InvalidRequest
from api.engine_client import call_path, id_in_path
from api.voice.service import VoiceService
from api.voice.sessions.schemas import (
    AddMembersBody,
    CallTransferBody,
    KickBody,
    LeaveBody,
    TransferBody,
    TransferCancelBody,
    TransferCompleteBody,
)
from wire import control


class SessionService(Struct, frozen=True):
    """Operations on sessions."""

    voice: VoiceService

    async def start_transfer(self, user: Principal, call_id: str, body: CallTransferBody) -> bytes:
        if body.target.number is not None:
            permissions = await self.voice.permissions(user)
            permissions.check_party(body.target.number, "target.number")
        request = control.InitTransfer(
            transfer_mode=body.transfer_mode,
            customer_channel_id=body.customer_channel_id,
            source_channel_id=body.source_channel_id,
            target=body.target,
            source_agent_id=body.source_agent_id,
            moh_audio_url=body.moh_audio_url,
            account=user.account_id,
        )
        return await self._post(call_id, "/transfers", request)

    async def complete_transfer(self, user: Principal, body: TransferCompleteBody) -> bytes:
        """Complete a transfer: the source leaves."""
        request = control.CompleteTransfer(
            body.completed_by_agent_id, body.reason, account=user.account_id
        )
        return await self._post(body.call_id, f"{_transfer_path(body)}/complete", request)

    async def cancel_transfer(self, user: Principal, body: TransferCancelBody) -> bytes:
        """Cancel a transfer: the customer returns to the source."""
        request = control.CancelTransfer(
            body.cancelled_by_agent_id, body.reason, account=user.account_id
        )
        return await self._post(body.call_id, f"{_transfer_path(body)}/cancel", request)

    async def show_transfer(self, user: Principal, body: TransferBody) -> bytes:
        """Show a transfer, live or ended."""
        path = call_path(body.call_id, _transfer_path(body))
        return await self.voice.engine.request_raw("GET", path, query={"account": user.account_id})

    async def add_members(self, user: Principal, body: AddMembersBody) -> bytes:
        """Call a member into a conference."""
        if body.target_external_number is not None:
            permissions = await self.voice.permissions(user)
            permissions.check_party(body.target_external_number, "targetExternalNumber")
        request = control.AddMember(
            requested_by_agent_id=body.requested_by_agent_id,
            customer_channel_id=body.customer_channel_id,
            source_channel_id=body.source_channel_id,
            source_agent_id=body.source_agent_id,
            conference_session_id=body.conference_session_id,
            target_agent_ids=body.target_agent_ids or (),
            target_agent_names=body.target_agent_names,
            target_external_number=body.target_external_number,
            moh_audio_url=body.moh_audio_url,
            account=user.account_id,
        )
        return await self._post(body.call_id, "/conference/members", request)

    async def kick(self, user: Principal, body: KickBody) -> bytes:
        """Remove a member."""
        request = control.KickMember(
            conference_session_id=body.conference_session_id,
            requester_agent_id=body.requester_agent_id,
            target_agent_id=body.target_agent_id,
            target_channel_id=body.target_channel_id,
            account=user.account_id,
        )
        return await self._post(body.call_id, "/conference/kick", request)

    async def leave(self, user: Principal, body: LeaveBody) -> bytes:
        request = control.LeaveConference(
            conference_session_id=body.conference_session_id,
            agent_id=body.agent_id,
            channel_id=body.channel_id,
            account=user.account_id,
        )
        return await self._post(body.call_id, "/conference/leave", request)

    async def members(self, user: Principal, call_id: str) -> bytes:
        """Show the conference of a call, the live one or the last."""
        path = call_path(call_id, "/conference/members")
        return await self.voice.engine.request_raw("GET", path, query={"account": user.account_id})

    async def my_conference(self, user: Principal) -> bytes:
        """Show the live conference that the token's agent is in."""
        if user.agent_id is None:
            raise InvalidRequest("this token is not an agent's", "no_agent")
        path = f"/agents/{user.account_id}/{id_in_path(user.agent_id)}/conference"
        return await self.voice.engine.request_raw("GET", path)

    async def _post(self, call_id: str, path: str, request: Any) -> bytes:
        return await self.voice.engine.request_raw("POST", call_path(call_id, path), request)


def _transfer_path(body: TransferBody) -> str:
    return f"/transfers/{id_in_path(body.transfer_session_id)}"
