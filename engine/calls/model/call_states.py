"""The states of a call; each that waits has a deadline in wall-clock milliseconds.

`verbs` starts and advances them; the table in `calls.states` sums up what each does.
"""

from typing import Literal

from msgspec import Struct

from engine.calls.model.amd_sounds import AmdSounds
from engine.calls.model.streams import StreamActivity
from wire.answer_detection import AnsweredBy, Detection
from wire.media import Clip
from wire.streams.setup import Resume
from wire.verbs import Action, Dial, Gather, Pause, Play, Record, Say, Stream, Verb, VerbTag
from wire.webhooks import DialResult, RecordReason


class State(Struct, frozen=True, array_like=True, gc=False, tag_field="d"):
    """Base of all states, stored as a tagged array: what holds unless a state says otherwise."""

    @property
    def running_verb(self) -> Verb | None:
        """The verb that runs; None while none does, or while it is still being fetched."""
        return getattr(self, "verb", None)

    @property
    def active_prompt(self) -> tuple[str, int] | None:
        """The playback that the state waits for, and when it ends; 0: it has failed."""
        return None

    @property
    def paused_prompt(self) -> str | None:
        """The prompt that a sound of the caller has paused, if any."""
        return None

    @property
    def active_voicemail(self) -> str | None:
        """The voicemail that is being recorded, if any."""
        return None

    @property
    def keeps_digits(self) -> bool:
        """Whether digits that the state does not use are kept for the next gather."""
        return False

    def digit_window(self, from_ms: int) -> int | None:
        """Return since when the state accepts digits of its leg, if it does.

        `from_ms` is the leg's `digits_from_ms`: 0 before its answer.
        """
        return (from_ms or None) if self.keeps_digits else None


class UnbridgedState(State, frozen=True):
    """Base of states in which the main leg is in no bridge and hears only what its verb plays."""


class TypeAheadState(UnbridgedState, frozen=True):
    """Base of states in which the caller may type ahead."""

    @property
    def keeps_digits(self) -> bool:
        return True


class ClosingState(State, frozen=True):
    """Base of states in which the call is ending or has ended."""


class Starting(UnbridgedState, frozen=True, tag="starting"):
    """The main leg is not answered yet, or awaits its ACK; then `action` runs."""

    action: Action | None
    deadline_ms: int
    detection: Detection | None = None
    on_machine: Verb | str = "continue"
    fallback: Verb | None = None  # runs if the action is a webhook or a flow that fails


class Detecting(TypeAheadState, frozen=True, tag="detecting"):
    """Answer detection runs on the main leg: a person or a machine? Then `action` runs."""

    detection: Detection
    activity: AmdSounds
    deadline_ms: int
    action: Action | None = None
    on_machine: Verb | str = "continue"  # or `hangup`, or an action that runs instead
    fallback: Verb | None = None  # as of `Starting`


EndedVerb = VerbTag | Literal["start", "reply", "whisper", "confirm"]


class Advance(State, frozen=True, tag="advance"):
    """A verb has ended and `action` runs next; transient within one step, never stored.

    `event` and `dial` tell a webhook what ended; `fallback` runs when the webhook fails. `digits`
    are those that a gather collected, `speech` is what it understood. `is_media_failed` leads to
    the `onError` of a flow's node.
    """

    action: Action | None
    event: EndedVerb
    dial: DialResult | None = None
    fallback: Verb | None = None
    digits: str = ""
    is_media_failed: bool = False
    stream_reason: str = ""
    speech: str = ""
    gather_reason: str = ""


class Playing(TypeAheadState, frozen=True, tag="playing"):
    """Audio is fetched (while `clips` is empty), then played to the main leg."""

    verb: Play | Say | Record
    request: str
    deadline_ms: int
    clips: tuple[Clip, ...] = ()
    ends_ms: int = 0
    suspended: bool = False  # its leg is on hold
    played_ms: int = 0  # of all rounds, when the playback started or was suspended

    @property
    def active_prompt(self) -> tuple[str, int] | None:
        return (self.request, self.ends_ms) if self.clips and not self.suspended else None


GatherPhase = Literal["fetch", "prompt", "first", "between", "speech"]
RecognitionState = Literal["", "started", "failed"]


class Gathering(UnbridgedState, frozen=True, tag="gathering"):
    """Digits are collected, or speech is understood: from the prompt to the last input.

    The phase `speech` is from the beginning of an utterance after the prompt to its transcript.
    """

    verb: Gather
    leg: str
    phase: GatherPhase
    deadline_ms: int  # of this phase
    limit_ms: int  # of the whole verb
    request: str = ""  # of the prompt: its fetch, then its playback
    clips: tuple[Clip, ...] = ()
    ends_ms: int = 0
    digits: str = ""
    suspended: bool = False  # its leg is on hold
    played_ms: int = 0  # of the prompt, when it was suspended
    suspended_ms: int = 0  # when it was suspended
    since_ms: int = 0  # digits are accepted from this time on
    awaits_key_up: bool = False  # its time has passed, but a key is down
    recognition: RecognitionState = ""  # whether a recognizer listens
    recognizer_error: str = ""  # why the last one ended
    utterances: int = 0  # that have begun, and whose transcripts are awaited
    paused_ms: int = 0  # since when a sound has paused the prompt, or holds it back; 0: it does not
    speech: str = ""  # what was understood
    confidence: float | None = None  # of that; None: no utterance has ended

    @property
    def active_prompt(self) -> tuple[str, int] | None:
        is_active = self.phase == "prompt" and not self.suspended
        return (self.request, self.ends_ms) if is_active else None

    @property
    def paused_prompt(self) -> str | None:
        return self.request if self.paused_ms else None

    def digit_window(self, from_ms: int) -> int | None:
        return None if self.suspended else from_ms or self.since_ms or None


ScreeningStage = Literal["detecting", "whispering", "confirming"]


class Screening(Struct, frozen=True, array_like=True):
    """Call screening of a dialed leg, between its answer and the conversation.

    `state` is the state that the call would have if this were its main leg; `limit_ms` ends the
    stage.
    """

    leg: str
    stage: ScreeningStage
    state: Detecting | Playing | Gathering
    limit_ms: int

    @property
    def position(self) -> tuple[str, ScreeningStage, int]:
        """The leg, its stage, and the stage's time limit."""
        return self.leg, self.stage, self.limit_ms

    @property
    def due_ms(self) -> int:
        """The next deadline."""
        return min(self.limit_ms, self.state.deadline_ms)


class RecordingVoicemail(UnbridgedState, frozen=True, tag="recording"):
    """A voicemail is recorded; when it has ended, it is archived."""

    verb: Record
    recording: str
    started_ms: int
    deadline_ms: int
    reason: RecordReason | Literal[""] = ""  # why it ended, as soon as it is known
    request: str = ""  # that archives it, once it has ended
    ended_ms: int = 0
    digits_from_ms: int = 0  # of its leg, until it ended

    @property
    def active_voicemail(self) -> str | None:
        return None if self.request else self.recording

    @property
    def keeps_digits(self) -> bool:
        return bool(self.request)  # the recording has ended

    def digit_window(self, from_ms: int) -> int | None:
        # The key that ended the recording may be reported after its end.
        return (self.digits_from_ms if from_ms == self.ended_ms else from_ms) or self.started_ms


class Pausing(TypeAheadState, frozen=True, tag="pausing"):
    """The main leg hears silence."""

    verb: Pause
    deadline_ms: int
    suspended: bool = False  # its leg is on hold
    remaining_ms: int = 0  # when it was suspended


class Streaming(State, frozen=True, tag="streaming"):
    """The caller and a bot hear each other, or the next try to reach the bot is waited for."""

    verb: Stream
    stream: str  # empty between two tries
    bridge: str
    since_ms: int
    limit_ms: int  # of the verb
    failures: int = 0  # in a row, since a stream has lasted
    heard_ms: int = 0  # of the streams before this one
    resume: Resume | None = None  # where the bot continues
    due_ms: int = 0  # of the next try, or until when the report of an ended stream is awaited
    lost: str = ""  # the stream before this one
    activity: StreamActivity = StreamActivity()  # of the streams before this one

    @property
    def id(self) -> str:
        """The stream; between two tries the one that was heard last, or else the lost one."""
        return self.stream or (self.resume.of if self.resume else self.lost)

    @property
    def deadline_ms(self) -> int:
        """The next deadline."""
        return min(self.due_ms, self.limit_ms) if self.due_ms else self.limit_ms

    def digit_window(self, from_ms: int) -> int | None:
        return max(from_ms, self.since_ms)  # they are the bot's


class Dialing(State, frozen=True, tag="dialing"):
    """Legs are called; the first to answer and to pass its screening is connected."""

    verb: Dial
    legs: tuple[str, ...]
    deadline_ms: int  # of the legs that have not answered
    cause: int = 0  # of the leg that ended last
    screenings: tuple[Screening, ...] = ()
    answered_by: AnsweredBy | None = None  # of the leg whose screening ended last
    reason: str = ""  # why the last leg that was not called was not
    bridge: str = ""  # of the main leg and the only called leg, for its early media

    def screening(self, leg: str) -> Screening:
        """Return the screening of a leg, which must have one."""
        return next(each for each in self.screenings if each.leg == leg)

    @property
    def ringing(self) -> tuple[str, ...]:
        """The legs that have not answered."""
        answered = {each.leg for each in self.screenings}
        return tuple(leg for leg in self.legs if leg not in answered)

    @property
    def due_ms(self) -> int:
        """The next deadline."""
        deadlines = [each.due_ms for each in self.screenings]
        is_ringing = self.ringing or not deadlines
        return min([*deadlines, self.deadline_ms] if is_ringing else deadlines)


class AwaitingInstructions(TypeAheadState, frozen=True, tag="awaiting-instructions"):
    """The call waits for a webhook or a stored flow, or for an API request of a flow."""

    request: str
    deadline_ms: int
    fallback: Verb | None = None
    is_api: bool = False
    has_music: bool = False  # hold music plays meanwhile
    failure: str = ""  # of the webhook: it takes effect when the conversation has ended
    is_flow: bool = False  # without it, a flow around goes on at its next node


class Bridged(State, frozen=True, tag="bridged"):
    """The main leg and others share a bridge."""

    verb: Dial
    leg: str  # the one that the dial connected
    legs: tuple[str, ...]  # all except the main leg
    bridge: str
    since_ms: int
    deadline_ms: int
    number: str | None = None  # the one of the dial's numbers that was connected
    awaiting: AwaitingInstructions | None = None  # a request that the conversation interrupted
    answered_by: AnsweredBy | None = None  # of the leg that the dial connected


class Ending(ClosingState, frozen=True, tag="ending"):
    """All legs are being hung up."""

    deadline_ms: int
    tries: int = 0


class ArchivingRecordings(ClosingState, frozen=True, tag="archiving-recordings"):
    """All legs have ended; recordings are being archived."""

    deadline_ms: int


class Ended(ClosingState, frozen=True, tag="ended"):
    """The call has ended; further events change nothing."""


CallState = (
    Starting
    | Detecting
    | Advance
    | Playing
    | Gathering
    | RecordingVoicemail
    | Pausing
    | Streaming
    | Dialing
    | Bridged
    | AwaitingInstructions
    | Ending
    | ArchivingRecordings
    | Ended
)
