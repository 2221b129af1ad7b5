"""Transfers and conferences of an account, mapped to the engine's requests."""

from typing import Any

from msgspec import Struct

from api.auth.principal import Principal
from api.common.errors import InvalidRequest
from api.common.projection import project
from api.engine_client import call_path, id_in_path
from api.voice.service import VoiceService
from api.voice.sessions.schemas import (
    AddMembersRequest,
    BaseTransferRequest,
    CancelTransferRequest,
    CoachRequest,
    CompleteTransferRequest,
    KickMemberRequest,
    LeaveConferenceRequest,
    TransferReference,
)
from wire import control


class SessionService(Struct, frozen=True):
    """Operations on sessions."""

    voice: VoiceService

    async def start_transfer(
        self, user: Principal, call_id: str, body: BaseTransferRequest
    ) -> bytes:
        if user.only_agent("calls"):
            user.check_agent(body.source_agent_id, "sourceAgentId")
        await self.voice.check_control(user, call_id)
        if body.target.number is not None:
            permissions = await self.voice.permissions(user)
            permissions.check_party(body.target.number, "target.number")
        request = project(control.InitTransfer, body, account=user.account_id)
        return await self._post(call_id, "/transfers", request)

    async def complete_transfer(self, user: Principal, body: CompleteTransferRequest) -> bytes:
        """Complete a transfer: the source leaves."""
        user.check_agent(body.completed_by_agent_id, "completedByAgentId")
        await self.voice.check_control(user, body.call_id)
        request = project(control.CompleteTransfer, body, account=user.account_id)
        return await self._post(body.call_id, f"{_transfer_path(body)}/complete", request)

    async def cancel_transfer(self, user: Principal, body: CancelTransferRequest) -> bytes:
        """Cancel a transfer: the customer returns to the source."""
        user.check_agent(body.cancelled_by_agent_id, "cancelledByAgentId")
        await self.voice.check_control(user, body.call_id)
        request = project(control.CancelTransfer, body, account=user.account_id)
        return await self._post(body.call_id, f"{_transfer_path(body)}/cancel", request)

    async def show_transfer(self, user: Principal, body: TransferReference) -> bytes:
        """Show a transfer, live or ended."""
        if user.only_agent("calls"):
            await self.voice.show(user, body.call_id)
        path = call_path(body.call_id, _transfer_path(body))
        return await self.voice.engine.request_raw("GET", path, query={"account": user.account_id})

    async def add_members(self, user: Principal, body: AddMembersRequest) -> bytes:
        """Call a member into a conference."""
        user.check_agent(body.requested_by_agent_id, "requestedByAgentId")
        if user.only_agent("calls"):
            user.check_agent(body.source_agent_id, "sourceAgentId")
        await self.voice.check_control(user, body.call_id)
        if body.target_external_number is not None:
            permissions = await self.voice.permissions(user)
            permissions.check_party(body.target_external_number, "targetExternalNumber")
        target_ids = body.target_agent_ids or ()
        request = project(
            control.AddMember, body, target_agent_ids=target_ids, account=user.account_id
        )
        return await self._post(body.call_id, "/conference/members", request)

    async def kick(self, user: Principal, body: KickMemberRequest) -> bytes:
        """Remove a member."""
        user.check_agent(body.requester_agent_id, "requesterAgentId")
        await self.voice.check_control(user, body.call_id)
        request = project(control.KickMember, body, account=user.account_id)
        return await self._post(body.call_id, "/conference/kick", request)

    async def leave(self, user: Principal, body: LeaveConferenceRequest) -> bytes:
        if user.only_agent("calls"):
            user.check_agent(body.agent_id, "agentId")
        await self.voice.check_control(user, body.call_id)
        request = project(control.LeaveConference, body, account=user.account_id)
        return await self._post(body.call_id, "/conference/leave", request)

    async def coach(self, user: Principal, body: CoachRequest) -> bytes:
        """Let one other member only hear a member; an agent's token coaches as its agent."""
        await self.voice.check_control(user, body.call_id, body.channel_id)
        request = project(control.Coach, body, account=user.account_id)
        return await self._post(body.call_id, "/conference/coach", request)

    async def members(self, user: Principal, call_id: str) -> bytes:
        """Show the conference of a call, the live one or the last."""
        if user.only_agent("calls"):
            await self.voice.show(user, call_id)
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


def _transfer_path(body: TransferReference) -> str:
    return f"/transfers/{id_in_path(body.transfer_session_id)}"
