"""Views of calls: current state, legs, recordings, timeline and audit."""

from typing import Any, Literal

from msgspec import field

from wire.base import Shape
from wire.control import ConferenceView, TransferView
from wire.media import MediaFault
from wire.party import Diversion
from wire.webhook_log import AttemptSummary


class LegView(Shape, frozen=True):
    """One live leg of a call."""

    channel_id: str
    party: str
    state: str
    agent_id: str | None = field(default=None, name="agent_id")
    reference_id: str | None = field(default=None, name="reference_id")
    muted: str = ""
    held: bool = False
    answered_by: str = ""  # human, machine, unknown; empty without detection
    held_by_phone: bool = False


class RecordingView(Shape, frozen=True):
    """A recording of a call: its archive URL, and its length once it is archived."""

    url: str
    purpose: str  # call or voicemail
    state: str  # running, paused, ended, archived, lost
    duration_ms: int = 0


class CallRecordings(Shape, frozen=True):
    """The recordings of a call."""

    call_id: str
    recordings: tuple[RecordingView, ...]


class StreamView(Shape, frozen=True):
    """A live stream of a call; times in wall-clock milliseconds. `url` is without its query.

    `state` is `starting`, `connected`, `lost` until another one takes its place, or `resuming`
    while the bot is called again.
    """

    stream_id: str
    url: str
    protocol: str
    state: str
    fork: bool
    track: str
    started_ms: int
    connected_ms: int = 0
    heard_ms: int = 0
    last_mark: str = ""


class CallStreams(Shape, frozen=True):
    """The live streams of a call."""

    call_id: str
    streams: tuple[StreamView, ...]


class CallView(Shape, frozen=True):
    """The current state of a call; times in wall-clock milliseconds.

    `verb` is the running one, `mainChannelId` the leg that the action tree runs on.
    """

    call_id: str
    account: str
    node: str
    slot: int
    direction: str
    from_: str = field(name="from")
    to: str
    status: str
    state: str
    legs: tuple[LegView, ...]
    created_ms: int
    answered_ms: int = 0
    ended_ms: int = 0
    bridge_id: str | None = None
    hangup_cause: int = 0
    ended_by: str = ""
    reason: str = ""
    answered_by: str = ""  # human, machine, unknown; empty without detection
    custom_data: dict[str, Any] | None = None
    verb: str = ""
    main_channel_id: str = ""
    transfers: tuple[TransferView, ...] = ()
    conferences: tuple[ConferenceView, ...] = ()
    recordings: tuple[RecordingView, ...] = ()
    privacy: bool = False  # the caller has withheld the number in `from`
    diversion: tuple[Diversion, ...] = ()  # numbers that were called before, the first one first
    agents: tuple[str, ...] = ()  # that take or took part
    media_fault: MediaFault | None = None  # the first audio that could not be played
    caller_name: str = ""  # as the caller's network or the directory has it; empty if withheld


class Calls(Shape, frozen=True):
    """The live calls."""

    calls: tuple[CallView, ...]


LifelineKind = Literal["engine", "leg", "stream", "server"]
RowKind = Literal[
    "plain", "success", "failure", "digit", "sound", "web", "faint", "break"
]  # break: the engine was away, or its clock was set
SpanKind = Literal["leg", "bridge", "hold", "mute", "prompt", "verb", "recording", "request"]


class Lifeline(Shape, frozen=True):
    """A lifeline of a timeline: `heading` is a letter for legs and streams, `label` who it is."""

    id: str
    kind: LifelineKind
    heading: str
    label: str = ""


class TimelineSpan(Shape, frozen=True):
    """Something that lasts on a lifeline, such as a hold: one of a kind on a lifeline at a time."""

    lifeline: str
    kind: SpanKind
    text: str = ""


class TimelineFault(Shape, frozen=True):
    """What went wrong, as a sentence, and its error code."""

    text: str
    code: str


class TimelineRow(Shape, frozen=True):
    """One line of a timeline, ready to draw: an arrow between two lifelines, or a mark on one.

    `joined` are the lifelines that are bridged here. Spans begin and end with rows; a row without a
    text is only for its spans. `request` and `attempt` are ids of the webhook log: of all attempts
    of a request, or of one. `details` are the fields of the event or command, with its `type`.
    """

    at_ms: int
    from_: str = field(name="from")
    to: str
    text: str
    kind: RowKind = "plain"
    joined: tuple[str, ...] = ()
    begins: tuple[TimelineSpan, ...] = ()
    ends: tuple[TimelineSpan, ...] = ()
    request: str = ""
    attempt: str = ""
    fault: TimelineFault | None = None
    details: dict[str, Any] | None = None


class Timeline(Shape, frozen=True):
    """What happened in a call, in words, computed by replaying its recorded events.

    `attempts` are those of the webhook log, the earliest first. Of a long call, `omitted` earlier
    rows are left out, which no request gets. With `next` as `after`, a request gets the rows and
    attempts that are new since, and all lifelines.
    """

    call: CallView
    lifelines: tuple[Lifeline, ...]
    rows: tuple[TimelineRow, ...]
    attempts: tuple[AttemptSummary, ...] = ()
    omitted: int = 0
    next: str = ""


class ReplayDifference(Shape, frozen=True):
    """A replayed decision that differs from the log: commands, published events or final state.

    `commands` are those of the replay, if known; the log has only a digest of the original ones.
    """

    about: str  # commands, events, state
    detail: str
    line: int = 0  # of the log; line 0 is the new call
    at_ms: int = 0
    event: dict[str, Any] | None = None
    commands: tuple[dict[str, Any], ...] = ()


class Replay(Shape, frozen=True):
    """The audit of one call by replay.

    `gap` is the first line that the store lost: later lines cannot be replayed. `compared` is the
    number of lines with a digest, `events` the number of published events, `trimmed` how many of
    these are no longer on the stream.
    """

    call_id: str
    is_same: bool
    lines: int
    compared: int
    events: int
    trimmed: int = 0
    gap: int | None = None
    is_live: bool = False
    differences: tuple[ReplayDifference, ...] = ()


class EndedCalls(Shape, frozen=True):
    """Ended calls, the latest first."""

    call_ids: tuple[str, ...]
