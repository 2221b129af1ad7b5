"""What is sent about calls and their legs (spec, "Voice"); what comes back are the engine's views.

The alternative paths name the call themselves: their bodies are the bases of the others.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, field
from msgspec.json import schema_components

from api.http.msgspec_adapter import REFS
from wire.base import Name, Party
from wire.callback_targets import StatusTarget
from wire.control import ChannelId, RingSeconds
from wire.rpc import AnsweredDetection, RecordCall
from wire.verbs import Action

CallId = Annotated[str, Meta(min_length=1, max_length=128)]
(_ACTION,), _ = schema_components([Action], ref_template=REFS)
# Parsed by itself, with all limits, by the parser that the engine has.
Tree = Annotated[msgspec.Raw, Meta(extra_json_schema=_ACTION)]


class RequestBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """What all bodies have in common: camelCase, nothing unknown."""


class OriginateBody(RequestBody, frozen=True, kw_only=True):
    """A call to be made.

    `from` is a caller id of the account: `to` is called, showing it, and the action runs there.
    Any other `from` is itself called first, then `to` is dialled and bridged to it, and the action
    runs when that has ended.
    """

    from_: Party = field(name="from")
    to: Party
    action: Tree = field(default_factory=msgspec.Raw)
    timeout: RingSeconds = 60.0
    record_call: bool | RecordCall = False
    flow_id: Name | None = None
    contact: dict[str, Any] | None = None
    status_callback_url: StatusTarget | None = None
    custom_data: dict[str, Any] | None = None
    machine_detection: AnsweredDetection | bool = False


class Originated(Struct, frozen=True, rename="camel"):
    """The call that is being made; its record will have the same id."""

    call_id: str
    req_id: str


class LegBody(RequestBody, frozen=True, kw_only=True):
    """A leg."""

    channel_id: ChannelId


class CallLegBody(LegBody, frozen=True, kw_only=True):
    """A leg of a call."""

    call_id: CallId


class DialBody(RequestBody, frozen=True, kw_only=True):
    """A party to be called into a live call."""

    call_id: CallId
    target: Party


class LegHangupBody(RequestBody, frozen=True, kw_only=True):
    """Which leg is to end: a channel, or an agent's; without either the token's agent's, or all."""

    agent_id: Name | None = None
    channel_id: ChannelId | None = None


class CallHangupBody(LegHangupBody, frozen=True, kw_only=True):
    """A call that is to end, or a leg of it."""

    call_id: CallId


class CallBody(RequestBody, frozen=True, kw_only=True):
    """A call."""

    call_id: CallId
