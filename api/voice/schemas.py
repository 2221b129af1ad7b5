"""Request bodies for calls and their legs (docs/rest.md); responses are the engine's views.

The alternative paths contain the call id; their bodies may repeat it.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from wire.base import CallerId, DialTarget, Name, Party
from wire.callbacks.targets import StatusTarget
from wire.control import ChannelId, RingSeconds
from wire.decoding.errors import BadInput
from wire.rpc import AnsweredDetection, RecordCall
from wire.verbs import Action, Verb

CallId = Annotated[str, Meta(min_length=1, max_length=128)]
RecordingAction = Literal["start", "pause", "resume", "stop"]


class VoiceRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Base of the bodies: camelCase names, no unknown fields."""


class OriginateRequest(VoiceRequest, frozen=True, kw_only=True):
    """A call to start.

    If `from` is a caller id of the account, `to` is called with it, and the action runs there.
    Any other `from` is called first; then `to` is dialled and bridged to it, and the action runs
    after that. `fallback` is static and runs instead if the action is a webhook or a flow that
    fails; only if `to` is called first.
    """

    from_: Party = field(name="from")
    to: Party
    action: Action | None = None
    timeout: RingSeconds = 60.0
    record_call: bool | RecordCall = False
    flow_id: Name | None = None
    contact: dict[str, Any] | None = None
    status_callback_url: StatusTarget | None = None
    custom_data: dict[str, Any] | None = None
    machine_detection: AnsweredDetection | bool = False
    fallback: Verb | None = None


class OriginateResult(Struct, frozen=True, rename="camel"):
    """The call that is being started; its call record has the same id."""

    call_id: str
    req_id: str


class BaseLegRequest(VoiceRequest, frozen=True, kw_only=True):
    channel_id: ChannelId


class CallLegRequest(BaseLegRequest, frozen=True, kw_only=True):
    call_id: CallId


class LegByPathRequest(BaseLegRequest, frozen=True, kw_only=True):
    """A leg of the path's call."""

    call_id: CallId | None = None


class BaseMuteRequest(BaseLegRequest, frozen=True, kw_only=True):
    """A leg to mute: `in` what it says, `out` what it hears, or `both`."""

    direction: Literal["in", "out", "both"] = "in"


class MuteRequest(BaseMuteRequest, frozen=True, kw_only=True):
    """A leg to mute: `in` what it says, `out` what it hears, or `both`."""

    call_id: CallId


class MuteByPathRequest(BaseMuteRequest, frozen=True, kw_only=True):
    """A leg of the path's call to mute: `in` what it says, `out` what it hears, or `both`."""

    call_id: CallId | None = None


class CallByPathRequest(VoiceRequest, frozen=True, kw_only=True):
    """Nothing, or the path's call once more."""

    call_id: CallId | None = None


class DialRequest(VoiceRequest, frozen=True, kw_only=True):
    """A party to call into a live call, ringing for `timeout` seconds.

    It sees `callerId`, a number of the account, instead of the call's own.
    """

    call_id: CallId
    target: DialTarget
    caller_id: CallerId | None = None
    timeout: RingSeconds = 60.0


class BaseHangupRequest(VoiceRequest, frozen=True, kw_only=True):
    """The leg to hang up: by channel or by agent, else that of the token's agent, else the call."""

    agent_id: Name | None = None
    channel_id: ChannelId | None = None


class HangupRequest(BaseHangupRequest, frozen=True, kw_only=True):
    """The call to hang up, or a leg of it."""

    call_id: CallId


class HangupByPathRequest(BaseHangupRequest, frozen=True, kw_only=True):
    """A leg of the path's call, or none for the call itself."""

    call_id: CallId | None = None


class CallReference(VoiceRequest, frozen=True, kw_only=True):
    call_id: CallId


def check_call_id(in_path: str, in_body: str | None) -> None:
    """Reject a body that names another call than its path; raises BadInput."""
    if in_body not in {None, in_path}:
        raise BadInput("callId", f"expected the call of the path, {in_path}, or nothing")
