"""What is sent to customers' webhooks when a call asks what to do next (design section 7)."""

from typing import Any, Literal

from msgspec import Struct, field

from wire.answer_detection import AnsweredBy

RecordReason = Literal["terminator", "silence", "max-length", "hangup", "failed"]
GatherReason = Literal["terminator", "max-digits", "digit-timeout", "timeout", "hangup"]


class DialResult(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """How a dial ended; duration in seconds of conversation.

    `answeredBy`, where it was detected, is about the party that was connected, or answered last.
    """

    status: str
    cause: int = 0
    duration: int = 0
    number: str | None = None
    channel_id: str | None = None
    answered_by: AnsweredBy | None = None
    agent_id: str | None = field(default=None, name="agent_id")
    reference_id: str | None = field(default=None, name="reference_id")
    reason: str | None = None  # why nobody could be called: not_allowed, do_not_call, …


class GatherLeg(Struct, frozen=True, rename="camel"):
    """The leg that a gather listened to; its id can be given back to resume on it."""

    channel_id: str


class ActionRequest(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Asks for the next action: which call, and what just ended (`start` for nothing yet)."""

    call_id: str
    event: str
    from_: str = field(name="from")
    to: str
    direction: str
    account_id: str
    channel_id: str
    dial: DialResult | None = None
    answered_by: AnsweredBy | None = None
    custom_data: dict[str, Any] | None = None


class GatherResult(Struct, frozen=True, rename="camel"):
    """Tells the digits that were collected and why collecting ended."""

    call_id: str
    dtmf: str
    to: GatherLeg
    reason: GatherReason
    event: str = "gather"
    custom_data: dict[str, Any] | None = None


class RecordResult(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Tells where a message is, how long it is in seconds, and why it ended.

    Without an address there is none; without a length it is still on its way there.
    """

    call_id: str
    channel_id: str
    reason: RecordReason
    event: str
    recording_url: str | None = None
    recording_purpose: str | None = None
    duration: int | None = None
    custom_data: dict[str, Any] | None = None
