"""Transfers and conferences for an account: put as the engine wants them."""

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
    """What can be done with sessions."""

    voice: VoiceService

    async def begin(self, who: Principal, call_id: str, asked: CallTransferBody) -> bytes:
        """Begin a transfer."""
        if asked.target.number is not None:
            rights = await self.voice.permissions(who)
            rights.check_party(asked.target.number, "target.number")
        body = control.InitTransfer(
            transfer_mode=asked.transfer_mode,
            customer_channel_id=asked.customer_channel_id,
            source_channel_id=asked.source_channel_id,
            target=asked.target,
            source_agent_id=asked.source_agent_id,
            moh_audio_url=asked.moh_audio_url,
            account=who.account_id,
        )
        return await self._posted(call_id, "/transfers", body)

    async def complete(self, who: Principal, asked: TransferCompleteBody) -> bytes:
        """Leave the source out."""
        body = control.CompleteTransfer(
            asked.completed_by_agent_id, asked.reason, account=who.account_id
        )
        return await self._posted(asked.call_id, f"{_transfer(asked)}/complete", body)

    async def cancel(self, who: Principal, asked: TransferCancelBody) -> bytes:
        """Bring the customer back."""
        body = control.CancelTransfer(
            asked.cancelled_by_agent_id, asked.reason, account=who.account_id
        )
        return await self._posted(asked.call_id, f"{_transfer(asked)}/cancel", body)

    async def status(self, who: Principal, asked: TransferBody) -> bytes:
        """Show a transfer, live or ended."""
        path = call_path(asked.call_id, _transfer(asked))
        return await self.voice.engine.request_raw("GET", path, query={"account": who.account_id})

    async def add(self, who: Principal, asked: AddMembersBody) -> bytes:
        """Call a member in."""
        if asked.target_external_number is not None:
            rights = await self.voice.permissions(who)
            rights.check_party(asked.target_external_number, "targetExternalNumber")
        body = control.AddMember(
            requested_by_agent_id=asked.requested_by_agent_id,
            customer_channel_id=asked.customer_channel_id,
            source_channel_id=asked.source_channel_id,
            source_agent_id=asked.source_agent_id,
            conference_session_id=asked.conference_session_id,
            target_agent_ids=asked.target_agent_ids or (),
            target_agent_names=asked.target_agent_names,
            target_external_number=asked.target_external_number,
            moh_audio_url=asked.moh_audio_url,
            account=who.account_id,
        )
        return await self._posted(asked.call_id, "/conference/members", body)

    async def kick(self, who: Principal, asked: KickBody) -> bytes:
        """Put a member out."""
        body = control.KickMember(
            conference_session_id=asked.conference_session_id,
            requester_agent_id=asked.requester_agent_id,
            target_agent_id=asked.target_agent_id,
            target_channel_id=asked.target_channel_id,
            account=who.account_id,
        )
        return await self._posted(asked.call_id, "/conference/kick", body)

    async def leave(self, who: Principal, asked: LeaveBody) -> bytes:
        """Let a member leave."""
        body = control.LeaveConference(
            conference_session_id=asked.conference_session_id,
            agent_id=asked.agent_id,
            channel_id=asked.channel_id,
            account=who.account_id,
        )
        return await self._posted(asked.call_id, "/conference/leave", body)

    async def members(self, who: Principal, call_id: str) -> bytes:
        """Show the conference of a call, the live one or the last."""
        path = call_path(call_id, "/conference/members")
        return await self.voice.engine.request_raw("GET", path, query={"account": who.account_id})

    async def my(self, who: Principal) -> bytes:
        """Show the live conference that the token's agent is in."""
        if who.agent_id is None:
            raise InvalidRequest("this token is no agent's", "no_agent")
        path = f"/agents/{who.account_id}/{id_in_path(who.agent_id)}/conference"
        return await self.voice.engine.request_raw("GET", path)

    async def _posted(self, call_id: str, deed: str, body: Any) -> bytes:
        return await self.voice.engine.request_raw("POST", call_path(call_id, deed), body)


def _transfer(asked: TransferBody) -> str:
    return f"/transfers/{id_in_path(asked.transfer_session_id)}"
