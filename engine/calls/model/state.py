"""All that a call can be doing: one value at a time, each that waits with its deadline.

Deadlines are wall-clock milliseconds. The verbs' files say how each begins and what moves it.
"""

from typing import Literal

from msgspec import Struct

from engine.calls.model.answer_detection import SoundActivity
from wire.answer_detection import AnsweredBy, Detection
from wire.media import Clip
from wire.verbs import Action, Dial, Gather, Play, Record, Say, Verb
from wire.webhooks import DialResult, RecordReason


class State(Struct, frozen=True, array_like=True, tag_field="d"):
    """What all states share: stored as tagged arrays."""


class Starting(State, frozen=True, tag="starting"):
    """The main leg is not up yet; then `action` runs."""

    action: Action | None
    deadline_ms: int
    detection: Detection | None = None
    on_machine: Verb | str = "continue"


class Detecting(State, frozen=True, tag="detecting"):
    """The main leg is listened to: who answered, a person or a machine? Then `action` runs."""

    detection: Detection
    activity: SoundActivity
    deadline_ms: int
    action: Action | None = None
    on_machine: Verb | str = "continue"  # or `hangup`, or an action to run instead


class Advance(State, frozen=True, tag="advance"):
    """A verb has ended: passed through within one step, never stored.

    `event` and `dial` tell an address what has just ended; `fallback` runs when it does not answer.
    `digits` are what a gather collected.
    """

    action: Action | None
    event: str
    dial: DialResult | None = None
    fallback: Verb | None = None
    digits: str = ""


class Playing(State, frozen=True, tag="playing"):
    """Audio is fetched (no clips yet), then played, to the main leg."""

    verb: Play | Say | Record
    request: str
    deadline_ms: int
    clips: tuple[Clip, ...] = ()
    ends_ms: int = 0
    suspended: bool = False  # its leg is on hold
    played_ms: int = 0  # of the clips, before it was paused


class Gathering(State, frozen=True, tag="gathering"):
    """Digits are collected: during the prompt, before the first digit, or between digits."""

    verb: Gather
    leg: str
    phase: Literal["fetch", "prompt", "first", "between"]
    deadline_ms: int  # of this phase
    limit_ms: int  # of the whole verb
    request: str = ""  # the prompt's
    clips: tuple[Clip, ...] = ()
    ends_ms: int = 0
    digits: str = ""
    suspended: bool = False  # its leg is on hold
    played_ms: int = 0  # of the prompt, before it was paused
    suspended_ms: int = 0  # when
    since_ms: int = 0  # keys count from here on


ScreeningStage = Literal["detecting", "whispering", "confirming"]


class Screening(Struct, frozen=True, array_like=True):
    """What happens to a dialled leg between its answer and the conversation.

    `doing` is what would be a call's own, were this its main leg; `limit_ms` ends the stage.
    """

    leg: str
    stage: ScreeningStage
    state: Detecting | Playing | Gathering
    limit_ms: int

    @property
    def position(self) -> tuple[str, ScreeningStage, int]:
        """Which leg, in which stage, and until when at most."""
        return self.leg, self.stage, self.limit_ms

    @property
    def due_ms(self) -> int:
        """When something happens by itself."""
        return min(self.limit_ms, self.state.deadline_ms)


class RecordingVoicemail(State, frozen=True, tag="recording"):
    """A message is recorded, until it has ended; then it is on its way to the archive."""

    verb: Record
    recording: str
    started_ms: int
    deadline_ms: int
    reason: RecordReason | Literal[""] = ""  # why it ended, as soon as that shows
    request: str = ""  # to file it, once it has ended
    ended_ms: int = 0


class Dialing(State, frozen=True, tag="dialing"):
    """Legs are called; the first to answer, and to come through its greeting, wins."""

    verb: Dial
    legs: tuple[str, ...]
    deadline_ms: int  # of those that ring
    cause: int = 0  # of the leg that ended last
    screenings: tuple[Screening, ...] = ()
    answered_by: AnsweredBy | None = None  # of the leg that was greeted last and did not win
    reason: str = ""  # why the last of those that could not be called could not

    @property
    def ringing(self) -> tuple[str, ...]:
        """The legs that have not answered."""
        greeted = {each.leg for each in self.screenings}
        return tuple(leg for leg in self.legs if leg not in greeted)

    @property
    def due_ms(self) -> int:
        """When something happens by itself."""
        due = [each.due_ms for each in self.screenings]
        return min([*due, self.deadline_ms] if self.ringing or not due else due)


class AwaitingInstructions(State, frozen=True, tag="awaiting-instructions"):
    """A webhook or a stored flow was asked what to do next, or an API for what a flow needs."""

    request: str
    deadline_ms: int
    fallback: Verb | None = None
    is_api: bool = False
    has_music: bool = False  # while it waits


class Bridged(State, frozen=True, tag="bridged"):
    """The main leg and others share a bridge."""

    verb: Dial
    leg: str  # the one that the dial reached
    legs: tuple[str, ...]  # all that share the bridge with the main leg
    bridge: str
    since_ms: int
    deadline_ms: int
    number: str | None = None  # which of the dial's was reached
    awaiting: AwaitingInstructions | None = None  # a question that the conversation came upon
    answered_by: AnsweredBy | None = None  # of the leg that the dial reached


class Ending(State, frozen=True, tag="ending"):
    """All legs were told to hang up."""

    deadline_ms: int
    tries: int = 0


class ArchivingRecordings(State, frozen=True, tag="archiving-recordings"):
    """All legs are gone; recordings are on their way to the archive."""

    deadline_ms: int


class Ended(State, frozen=True, tag="ended"):
    """Nothing more can happen."""


CallState = (
    Starting
    | Detecting
    | Advance
    | Playing
    | Gathering
    | RecordingVoicemail
    | Dialing
    | Bridged
    | AwaitingInstructions
    | Ending
    | ArchivingRecordings
    | Ended
)
