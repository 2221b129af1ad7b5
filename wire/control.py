"""Requests to a live call over the internal RPC, and their responses.

Legs are named by their `channelId`. `account`, if present, must be the call's own. Every request
is idempotent.
"""

from typing import Annotated, Literal

from msgspec import Meta, field

from wire.base import CallerId, DialTarget, Name, Party, Shape, Url
from wire.verbs import StreamData

ChannelId = Annotated[str, Meta(min_length=1, max_length=149)]
RingSeconds = Annotated[float, Meta(gt=0, le=600)]
DisplayName = Annotated[str, Meta(max_length=128)]


class LegControl(Shape, frozen=True):
    """Unmute, hold or unhold a leg."""

    channel_id: ChannelId
    account: Name | None = None


class CallControl(Shape, frozen=True):
    """Start, pause, resume or stop the recording of a call."""

    account: Name | None = None


class MuteLeg(Shape, frozen=True):
    """Mute a leg: `in` its own audio, `out` the audio it receives, or `both`."""

    channel_id: ChannelId
    direction: Literal["in", "out", "both"] = "in"
    account: Name | None = None


class DialInto(Shape, frozen=True):
    """Dial one more party into a live call; the timeout is in seconds of ringing.

    An endpoint must be that of one of the account's agents.
    """

    target: DialTarget
    caller_id: CallerId | None = None
    timeout: RingSeconds = 60.0
    account: Name | None = None


class DialedLeg(Shape, frozen=True):
    """The leg that was dialed."""

    call_id: str
    channel_id: str


class HangupCall(Shape, frozen=True):
    """End a call, one leg of it by its channel, or an agent's own leg."""

    channel_id: ChannelId | None = None
    agent_id: Name | None = None
    account: Name | None = None


class StartStream(StreamData, frozen=True, kw_only=True):
    """Let a bot listen to a live call; the same request again starts no other stream."""

    account: Name | None = None


class SendStreamText(Shape, frozen=True):
    """A text for the bot of a stream."""

    text: Annotated[str, Meta(min_length=1, max_length=16_384)]
    account: Name | None = None


class TransferTarget(Shape, frozen=True):
    """The target of a transfer."""

    kind: Literal["agent", "number"]
    agent_id: Name | None = None
    number: Party | None = None
    agent_name: DisplayName | None = None


class InitTransfer(Shape, frozen=True):
    """Start to transfer the customer from the source to the target."""

    transfer_mode: Literal["blind", "attended"]
    customer_channel_id: ChannelId
    source_channel_id: ChannelId
    target: TransferTarget
    source_agent_id: Name | None = None
    moh_audio_url: Url | None = None
    timeout: RingSeconds = 30.0
    account: Name | None = None


class CompleteTransfer(Shape, frozen=True):
    """Complete a transfer: the source leaves."""

    completed_by_agent_id: Name
    reason: Literal["source_hangup_intentional", "manual_complete"]
    account: Name | None = None


class CancelTransfer(Shape, frozen=True):
    """Cancel a transfer: the customer returns to the source."""

    cancelled_by_agent_id: Name
    reason: Literal["target_no_answer", "source_cancel", "target_reject"]
    account: Name | None = None


class TransferView(Shape, frozen=True):
    """The current state of a transfer session; times in wall-clock milliseconds."""

    transfer_session_id: str
    call_id: str
    transfer_mode: str
    state: str
    target: str
    source_channel_id: str
    customer_channel_id: str
    target_channel_id: str
    reason: str = ""
    source_agent_id: str = ""
    target_name: str = ""
    ended_by: str = ""
    started_ms: int = 0
    ended_ms: int = 0


class AddMember(Shape, frozen=True):
    """Dial an agent or an external number into a conference; without a session, create one."""

    requested_by_agent_id: Name
    customer_channel_id: ChannelId | None = None
    source_channel_id: ChannelId | None = None
    source_agent_id: Name | None = None
    conference_session_id: str | None = None
    target_agent_ids: Annotated[tuple[Name, ...], Meta(max_length=1)] = ()
    target_agent_names: dict[str, DisplayName] | None = None
    target_external_number: Party | None = None
    moh_audio_url: Url | None = None
    timeout: RingSeconds = 30.0
    account: Name | None = None


class KickMember(Shape, frozen=True):
    """Remove a member, named by agent or by channel, from a conference."""

    conference_session_id: str
    requester_agent_id: Name
    target_agent_id: Name | None = None
    target_channel_id: ChannelId | None = None
    account: Name | None = None


class LeaveConference(Shape, frozen=True):
    """Leave a conference."""

    conference_session_id: str
    agent_id: Name
    channel_id: ChannelId
    account: Name | None = None
    pbx_ip: Annotated[str, Meta(max_length=255)] | None = None  # checked against the call's node


class Coach(Shape, frozen=True):
    """Make a member audible to one other only; without a coached channel, to all again."""

    conference_session_id: str
    channel_id: ChannelId
    coached_channel_id: ChannelId | None = None
    account: Name | None = None


class MemberView(Shape, frozen=True):
    """A member of a conference, present or past."""

    channel_id: str
    party: str
    state: str
    agent_id: str | None = field(default=None, name="agent_id")
    name: str = ""
    reason: str = ""
    muted: str = ""
    held: bool = False
    coaches: str = ""
    joined_ms: int = 0
    left_ms: int = 0
    removed_by: str = ""


class ConferenceView(Shape, frozen=True):
    """The current state of a conference session; times in wall-clock milliseconds."""

    conference_session_id: str
    call_id: str
    state: str
    members: tuple[MemberView, ...]
    requested_by_agent_id: str = ""
    reason: str = ""
    started_ms: int = 0
    ended_ms: int = 0
