"""The internal RPC: what the REST layer and the command line ask of an engine, as JSON.

Errors are RFC 9457 problems with a `code` and, for bad input, `errors[]` of path and message.
"""

from typing import Annotated, Any

from msgspec import Meta, Struct, field

from wire import patterns
from wire.answering import Detection
from wire.control import ConferenceView, TransferView
from wire.fields import Labels, Name, Party
from wire.targets import StatusTarget
from wire.verbs import Action, Verb

RequestId = Annotated[str, Meta(pattern=patterns.REQUEST_ID)]
OnMachine = Annotated[str, Meta(pattern=patterns.ON_MACHINE, max_length=2048)]


class _Shape(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename="camel"):
    """Frozen, camelCase, nothing unknown."""


class AnsweredDetection(Detection, frozen=True):
    """Detection on a call that is made.

    For a machine the call goes on (`continue`), ends (`hangup`), or runs another action, an object
    or an address.
    """

    on_machine: OnMachine | Verb = "continue"


class RecordCall(_Shape, frozen=True):
    """Whether to record, in the form that the guide's examples have."""

    enable: bool = False


class Originate(_Shape, frozen=True):
    """Start a call.

    `to` is called showing `from`, then the action runs on that leg. With `fromFirst`, `from` is
    itself called, then `to` is dialled and bridged to it, and the action runs when that has ended.
    The same `requestId` again gives the same call. A flow runs with `contact`.
    `machineDetection`, true or its settings, is about `to`: with `fromFirst`, about that dial.
    `labels` are told with the call's record, and to nobody else.
    Its events go to `statusCallbackUrl`, without one to the target that the account has configured.
    """

    account: Name
    from_: Party = field(name="from")
    to: Party
    action: Action | None = None
    flow_id: Name | None = None
    from_first: bool = False
    caller_id: Annotated[str, Meta(pattern=patterns.CALLER_ID)] | None = None
    timeout: Annotated[float, Meta(gt=0, le=600)] = 60.0  # seconds of ringing
    custom_data: dict[str, Any] | None = None
    contact: dict[str, Any] | None = None
    request_id: RequestId | None = None
    node: Name | None = None
    machine_detection: AnsweredDetection | bool = False

    record_call: bool | RecordCall = False  # from the answer on
    labels: Labels | None = None
    status_callback_url: StatusTarget | None = None

    @property
    def is_recorded(self) -> bool:
        """Whether it is to be recorded, in whichever form that was said."""
        return is_enabled(self.record_call)


class Started(_Shape, frozen=True):
    """The call that an originate made, or had made before."""

    call_id: str


class LegView(_Shape, frozen=True):
    """One live leg of a call."""

    channel_id: str
    party: str
    state: str
    agent_id: str | None = field(default=None, name="agent_id")
    reference_id: str | None = field(default=None, name="reference_id")
    muted: str = ""
    held: bool = False
    answered_by: str = ""  # human, machine, unknown, where it was detected


class RecordingView(_Shape, frozen=True):
    """A recording of a call: where it is filed, or will be; and its length once it is there."""

    url: str
    purpose: str  # call or voicemail
    state: str  # running, paused, ended, filed, lost
    duration_ms: int = 0


class CallRecordings(_Shape, frozen=True):
    """The recordings of a call."""

    call_id: str
    recordings: tuple[RecordingView, ...]


class CallView(_Shape, frozen=True):
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
    doing: str
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


class Calls(_Shape, frozen=True):
    """The live calls."""

    calls: tuple[CallView, ...]


class Moment(_Shape, frozen=True):
    """One line of a call's timeline: what happened, and what the call did about it."""

    at_ms: int
    event: dict[str, Any]
    commands: tuple[dict[str, Any], ...]
    doing: str


class Timeline(_Shape, frozen=True):
    """A call's story, made by running its recorded events through the core again."""

    call: CallView
    moments: tuple[Moment, ...]


class NumberRoute(_Shape, frozen=True):
    """Where calls to a number go: whose they are, and what runs."""

    account: Name
    action: Action
    custom_data: dict[str, Any] | None = None
    record_call: bool | RecordCall = False
    labels: Labels | None = None  # told with the records of its calls
    status_callback_url: StatusTarget | None = None

    @property
    def is_recorded(self) -> bool:
        """Whether its calls are to be recorded, in whichever form that was said."""
        return is_enabled(self.record_call)


def is_enabled(wish: bool | RecordCall) -> bool:
    """Tell what either form of a wish says."""
    return wish if isinstance(wish, bool) else wish.enable


class FlowVersion(_Shape, frozen=True):
    """A flow, and the number of its newest version."""

    flow_id: str
    version: int


class Flows(_Shape, frozen=True):
    """The flows of an account."""

    flows: tuple[FlowVersion, ...]


class FlowVersions(_Shape, frozen=True):
    """The versions of a flow that are kept."""

    flow_id: str
    versions: tuple[int, ...]


class NodeView(_Shape, frozen=True):
    """One PBX node: `calls` are those of all engines, what else changes is as this engine sees it.

    `refuses` says why it gets no new call: a code as calls are refused with, empty when it gets
    them. What its manager interface tells: `coreCalls`, how many calls it counts itself, and of
    all packets of late the part that was lost on the way to it, and their jitter.
    """

    name: str
    connected: bool
    calls: int
    drained: bool = False
    refuses: str = ""
    weight: float = 1.0
    max_calls: int | None = None
    max_calls_per_s: int | None = None
    watched: bool = False  # by its manager interface
    trunk_reachable: bool = True
    unregistered: tuple[str, ...] = ()  # as whom it is refused where it registers
    core_calls: int | None = None
    loss: float = 0.0
    jitter_ms: float = 0.0


class Nodes(_Shape, frozen=True):
    """The PBX nodes."""

    nodes: tuple[NodeView, ...]


class Fault(_Shape, frozen=True):
    """One thing wrong with the input."""

    path: str
    message: str
    code: str = ""


class Problem(_Shape, frozen=True):
    """What went wrong (RFC 9457)."""

    title: str
    status: int
    code: str
    detail: str = ""
    errors: tuple[Fault, ...] = ()
    type: str = "about:blank"
