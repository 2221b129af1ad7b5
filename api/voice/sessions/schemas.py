"""Request bodies for transfers and conferences (docs/sessions.md)."""

from typing import Annotated, Literal

from msgspec import Meta

from api.voice.schemas import CallId, VoiceRequest
from wire.base import Name, Party, Url
from wire.control import ChannelId, DisplayName, RingSeconds, TransferTarget

SessionId = Annotated[str, Meta(min_length=1, max_length=160)]


class BaseTransferRequest(VoiceRequest, frozen=True, kw_only=True):
    """The source agent, the customer and the target of a transfer, which rings for `timeout` s."""

    transfer_mode: Literal["blind", "attended"]
    source_agent_id: Name
    customer_channel_id: ChannelId
    source_channel_id: ChannelId
    target: TransferTarget
    moh_audio_url: Url | None = None
    timeout: RingSeconds = 30.0


class TransferRequest(BaseTransferRequest, frozen=True, kw_only=True):
    """A transfer to start in a call."""

    call_id: CallId


class TransferByPathRequest(BaseTransferRequest, frozen=True, kw_only=True):
    """A transfer to start in the path's call."""

    call_id: CallId | None = None


class TransferReference(VoiceRequest, frozen=True, kw_only=True):
    call_id: CallId
    transfer_session_id: SessionId


class CompleteTransferRequest(TransferReference, frozen=True, kw_only=True):
    """A transfer that the source leaves."""

    completed_by_agent_id: Name
    reason: Literal["source_hangup_intentional", "manual_complete"]


class CancelTransferRequest(TransferReference, frozen=True, kw_only=True):
    """A transfer whose customer returns to the source."""

    cancelled_by_agent_id: Name
    reason: Literal["target_no_answer", "source_cancel", "target_reject"]


class AddMembersRequest(VoiceRequest, frozen=True, kw_only=True):
    """An agent or external number to call in; without a session id, a conference is created.

    It rings for `timeout` seconds.
    """

    call_id: CallId
    requested_by_agent_id: Name
    customer_channel_id: ChannelId
    source_channel_id: ChannelId
    source_agent_id: Name
    conference_session_id: SessionId | None = None
    target_agent_ids: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=1)] | None = None
    target_agent_names: dict[str, DisplayName] | None = None
    target_external_number: Party | None = None
    moh_audio_url: Url | None = None
    timeout: RingSeconds = 30.0


class KickMemberRequest(VoiceRequest, frozen=True, kw_only=True):
    """A member to remove, named by agent or by channel."""

    call_id: CallId
    conference_session_id: SessionId
    requester_agent_id: Name
    target_agent_id: Name | None = None
    target_channel_id: ChannelId | None = None


class LeaveConferenceRequest(VoiceRequest, frozen=True, kw_only=True):
    """A member that leaves; `pbxIp`, if given, must be the node of the call."""

    call_id: CallId
    conference_session_id: SessionId
    agent_id: Name
    channel_id: ChannelId
    pbx_ip: Annotated[str, Meta(max_length=255)] | None = None


class CoachRequest(VoiceRequest, frozen=True, kw_only=True):
    """A member that only one other hears from now on; without `coachedChannelId`, all hear it."""

    call_id: CallId
    conference_session_id: SessionId
    channel_id: ChannelId
    coached_channel_id: ChannelId | None = None
