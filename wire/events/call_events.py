"""Call events as published (docs/events.md).

docs/events.md defines which changes need another `version`.
"""

from typing import Any, Literal

from msgspec import Struct, field

from wire.events.record import CallRecord
from wire.party import Diversion

VERSION = 1  # of the event format; 0 or absent: emitted before formats were numbered

Kind = Literal[
    "initiated",
    "ringing",
    "answered",
    "completed",
    "leg-initiated",
    "leg-ringing",
    "leg-answered",
    "leg-completed",
    "gathered",
    "leg-muted",
    "leg-unmuted",
    "leg-held",
    "leg-unheld",
    "transfer",
    "conference",
    "conference-member",
    "machine-detection",
    "recording-started",
    "recording-paused",
    "recording-resumed",
    "recording-stopped",
    "recorded",
    "media-failed",
    "stream",
]


class CallEvent(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One event of a call; a repetition has the same `id`, `sequence_number` has no gaps."""

    id: str
    event: Kind
    sequence_number: int
    timestamp: int  # wall-clock milliseconds
    call_id: str
    account_id: str
    call_status: str
    direction: str
    from_: str = field(name="from")
    to: str
    channel_id: str | None = None
    parent_call_id: str | None = None  # of a leg: the call that it was dialed into
    party: str | None = None
    leg_status: str | None = None
    dtmf: str | None = None
    hangup_cause: int | None = None
    sip_code: int | None = None
    ended_by: str | None = None
    reason: str | None = None
    session_id: str | None = None  # of a transfer, a conference or a stream
    session_state: str | None = None
    mode: str | None = None  # of a transfer; the protocol of a stream
    muted: str | None = None
    answered_by: str | None = None  # human, machine, unknown; absent without detection
    ended_by_channel_id: str | None = None  # of the leg whose end ended the call
    duration: int | None = None  # seconds since the answer, rounded up
    duration_ms: int | None = None
    recording_url: str | None = None
    recording_purpose: str | None = None  # call or voicemail
    recording_duration: int | None = None  # seconds; None: not known yet
    source: str | None = None  # of audio that could not be played
    agent_id: str | None = field(default=None, name="agent_id")
    reference_id: str | None = field(default=None, name="reference_id")
    requested_by: str | None = None  # agent who requested the change of a session or member
    custom_data: dict[str, Any] | None = None
    version: int = 0
    record: CallRecord | None = None  # of `completed`
    privacy: bool = False  # the caller has withheld the number in `from`
    diversion: tuple[Diversion, ...] = ()  # numbers that were called before, the first one first
    speech: str | None = None  # that a gather understood
    confidence: float | None = None  # of that, 0 to 1
    caller_name: str = ""  # as the caller's network or the directory has it; empty if withheld
