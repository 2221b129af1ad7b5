"""The call record (CDR), published with a call's last event.

Readers must ignore unknown fields (docs/events.md defines which changes may occur). Times are
wall-clock milliseconds. Of a call and of each leg, ring, talk, hold and wait time add up to the
time from start to end. `answeredDurationMs` is the time since the answer, and `answeredDuration`
the same in seconds, rounded up.
"""

from typing import Any

from msgspec import Struct, field

from wire.media import MediaFault
from wire.party import Diversion


class _Part(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Base struct: frozen, camelCase; fields with their default value are omitted."""


class LegRecord(_Part, frozen=True):
    """One leg; `requestedMs` is the time of the outbound or inbound call attempt."""

    channel_id: str
    party: str
    status: str  # completed, busy, no-answer, canceled, failed
    requested_ms: int
    ended_ms: int
    ring_ms: int
    talk_ms: int
    hold_ms: int
    answered_ms: int = 0
    hangup_cause: int = 0
    sip_code: int | None = None
    agent_id: str | None = field(default=None, name="agent_id")
    agent_name: str | None = None
    reference_id: str | None = field(default=None, name="reference_id")
    answered_by: str | None = None  # human, machine, unknown; absent without detection
    reason: str | None = None  # why the party was not called (not_allowed, …), or why it ended
    wait_ms: int = 0  # answered, neither in a conversation nor on hold
    answered_duration_ms: int = 0
    answered_duration: int = 0
    ended_by: str | None = None  # caller, callee, api, action, system
    unseen_ms: int = 0  # it ended unnoticed, within this time after `endedMs`


class GatherRecord(_Part, frozen=True):
    """The digits that one gather collected, or the speech that it understood."""

    at_ms: int
    channel_id: str
    dtmf: str
    reason: str
    speech: str | None = None
    confidence: float | None = None


class StreamRecord(_Part, frozen=True):
    """A media stream; if it was resumed after a loss, all its connections together.

    Times of turns are from the end of the caller's speech to the bot's first audio.
    """

    stream_id: str  # of the last connection; between two, of the one that was heard last
    protocol: str
    host: str  # of the bot, with its port
    started_ms: int
    ended_ms: int
    heard_ms: int  # of the bot's audio
    reason: str  # as in the webhook of `stream`
    fork: bool = False
    connected_ms: int = 0  # when the bot first accepted it; 0: never
    resumes: int = 0
    turns: int = 0  # of the bot, after the caller's
    barge_ins: int = 0
    median_latency_ms: int | None = None  # of the last hundred turns
    max_latency_ms: int | None = None


class RecordingRecord(_Part, frozen=True):
    """A recording: its archive URL, and its length once it is archived."""

    url: str
    purpose: str  # call or voicemail
    state: str  # archived; ended: it will be archived later; lost
    duration_ms: int = 0


class TransferRecord(_Part, frozen=True):
    """A transfer session."""

    session_id: str
    mode: str
    state: str
    party: str
    source_channel_id: str
    customer_channel_id: str
    target_channel_id: str
    started_ms: int
    ended_ms: int = 0
    source_agent_id: str | None = None
    target_name: str | None = None
    reason: str | None = None
    ended_by: str | None = None


class MemberRecord(_Part, frozen=True):
    """One member of a conference."""

    channel_id: str
    party: str
    state: str
    agent_id: str | None = field(default=None, name="agent_id")
    agent_name: str | None = None
    reason: str | None = None
    joined_ms: int = 0
    left_ms: int = 0
    removed_by: str | None = None  # agent who removed it, or who left with it


class ConferenceRecord(_Part, frozen=True):
    """A conference session with all of its members."""

    session_id: str
    state: str
    members: tuple[MemberRecord, ...]
    started_ms: int
    ended_ms: int = 0
    requested_by: str | None = None
    reason: str | None = None


class TakeoverRecord(_Part, frozen=True):
    """Another engine got the call, because its engine had died or handed it over."""

    at_ms: int
    engine: str
    uncontrolled_ms: int = 0  # since the last engine certainly had the call; 0: unknown


class CallRecord(_Part, frozen=True):
    """An ended call; `legsOmitted`: number of its first legs that are not listed."""

    call_id: str
    account_id: str
    node: str
    slot: int
    direction: str
    from_: str = field(name="from")
    to: str
    caller_id: str  # shown to the called party
    dialed_numbers: tuple[str, ...]
    status: str
    created_ms: int
    ended_ms: int
    ring_ms: int
    talk_ms: int
    hold_ms: int  # while any leg was on hold
    legs: tuple[LegRecord, ...]
    answered_ms: int = 0
    legs_omitted: int = 0
    hangup_cause: int = 0
    sip_code: int | None = None
    ended_by: str | None = None
    reason: str | None = None
    answered_by: str | None = None
    transfers: tuple[TransferRecord, ...] = ()
    conferences: tuple[ConferenceRecord, ...] = ()
    recordings: tuple[RecordingRecord, ...] = ()
    gathered: tuple[GatherRecord, ...] = ()
    streams: tuple[StreamRecord, ...] = ()
    labels: dict[str, str] | None = None  # set by the originate request or the number's route
    contact: dict[str, Any] | None = None
    privacy: bool = False  # the caller has withheld the number in `from`
    diversion: tuple[Diversion, ...] = ()  # numbers that were called before, the first one first
    custom_data: dict[str, Any] | None = None
    wait_ms: int = 0  # answered, without a conversation and without a hold
    answered_duration_ms: int = 0
    answered_duration: int = 0
    ended_by_channel_id: str | None = None  # of the leg whose end ended the call
    unseen_ms: int = 0  # it ended unnoticed, within this time after `endedMs`
    agent_id: str | None = field(default=None, name="agent_id")  # of the last dial with such
    reference_id: str | None = field(default=None, name="reference_id")
    media_fault: MediaFault | None = None  # the first audio that could not be played
    takeovers: tuple[TakeoverRecord, ...] = ()  # the latest ones
    caller_name: str = ""  # as the caller's network or the directory has it; empty if withheld
