"""Requests to customers' webhooks for a call's next action.

`mediaFault` is the last audio that could not be played since the request before.
"""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field

from wire.answer_detection import AnsweredBy
from wire.media import MediaFault
from wire.party import Diversion
from wire.streams.reports import EndReason

RecordReason = Literal["terminator", "silence", "max-length", "hangup", "failed"]
GatherReason = Literal[
    "terminator",
    "max-digits",
    "digit-timeout",
    "timeout",
    "hangup",
    "speech",  # it was understood
    "no-match",  # somebody spoke, and it was not understood
    "recognizer-failed",  # no speech can be understood, and no digits are collected
]

StreamEndReason = Literal[
    EndReason,
    "max-duration",
    "hangup",
    "gateway-lost",
    "no-gateway",
    "bot-refused",  # no-websocket, with an HTTP status that another try would get, too
]


class DialResult(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The result of a dial; `duration` is that of the conversation in seconds, rounded up.

    `answeredBy` is that of the connected party, or of the one that answered last.
    """

    status: str
    cause: int = 0
    duration: int = 0
    number: str | None = None
    channel_id: str | None = None
    answered_by: AnsweredBy | None = None
    agent_id: str | None = field(default=None, name="agent_id")
    reference_id: str | None = field(default=None, name="reference_id")
    reason: str | None = None  # why no party was called: not_allowed, do_not_call, …
    duration_ms: int = 0


class GatherLeg(Struct, frozen=True, rename="camel"):
    """The leg of a gather; its id can be sent back to resume on it."""

    channel_id: str


class ActionRequest(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Request for the next action: the call, and the verb that ended (`start`: none yet)."""

    call_id: str
    event: str
    from_: str = field(name="from")
    to: str
    direction: str
    account_id: str
    channel_id: str
    dial: DialResult | None = None
    answered_by: AnsweredBy | None = None
    privacy: bool = False  # the caller has withheld the number in `from`
    diversion: tuple[Diversion, ...] = ()  # numbers that were called before, the first one first
    custom_data: dict[str, Any] | None = None
    media_fault: MediaFault | None = None
    caller_name: str = ""  # as the caller's network or the directory has it; empty if withheld


class GatherResult(Struct, frozen=True, rename="camel"):
    """The collected digits or the speech, and why the gather ended."""

    call_id: str
    dtmf: str
    to: GatherLeg
    reason: GatherReason
    event: str = "gather"
    custom_data: dict[str, Any] | None = None
    media_fault: MediaFault | UnsetType = UNSET
    speech: str | UnsetType = UNSET
    confidence: float | UnsetType = UNSET
    recognizer_error: str | UnsetType = UNSET  # why speech is not understood


class StreamResult(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Why a stream ended, how long it lasted, and how much of the bot's audio was heard."""

    call_id: str
    channel_id: str
    stream_id: str
    reason: StreamEndReason
    duration_ms: int
    heard_ms: int
    event: str
    last_mark: str | None = None
    custom_data: dict[str, Any] | None = None


class RecordResult(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The URL of a recorded message, its length in seconds, and why it ended.

    Without a URL there is no recording; without a length it is not archived yet.
    """

    call_id: str
    channel_id: str
    reason: RecordReason
    event: str
    recording_url: str | None = None
    recording_purpose: str | None = None
    duration: int | None = None
    custom_data: dict[str, Any] | None = None
    media_fault: MediaFault | None = None
