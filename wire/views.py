"""What is shown of calls: as they stand, their legs, recordings and story."""

from typing import Any

from msgspec import field

from wire.base import Shape
from wire.control import ConferenceView, TransferView


class LegView(Shape, frozen=True):
    """One live leg of a call."""

    channel_id: str
    party: str
    state: str
    agent_id: str | None = field(default=None, name="agent_id")
    reference_id: str | None = field(default=None, name="reference_id")
    muted: str = ""
    held: bool = False
    answered_by: str = ""  # human, machine, unknown, where it was detected


class RecordingView(Shape, frozen=True):
    """A recording of a call: where it is filed, or will be; and its length once it is there."""

    url: str
    purpose: str  # call or voicemail
    state: str  # running, paused, ended, archived, lost
    duration_ms: int = 0


class CallRecordings(Shape, frozen=True):
    """The recordings of a call."""

    call_id: str
    recordings: tuple[RecordingView, ...]


class CallView(Shape, frozen=True):
    """A call as it stands; `verb` is the one that runs. Times in wall-clock milliseconds.

    `mainChannelId` names the leg that the tree runs on.
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
    answered_by: str = ""  # human, machine, unknown, where it was detected
    custom_data: dict[str, Any] | None = None
    verb: str = ""
    main_channel_id: str = ""
    transfers: tuple[TransferView, ...] = ()
    conferences: tuple[ConferenceView, ...] = ()
    recordings: tuple[RecordingView, ...] = ()


class Calls(Shape, frozen=True):
    """The live calls."""

    calls: tuple[CallView, ...]


class TimelineEntry(Shape, frozen=True):
    """One line of a call's timeline: what happened, and what the call did about it."""

    at_ms: int
    event: dict[str, Any]
    commands: tuple[dict[str, Any], ...]
    state: str


class Timeline(Shape, frozen=True):
    """A call's story, made by running its recorded events through the core again."""

    call: CallView
    moments: tuple[TimelineEntry, ...]
