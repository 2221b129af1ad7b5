"""The internal RPC: what the REST layer and the command line ask of an engine, as JSON.

Errors are RFC 9457 problems with a `code` and, for bad input, `errors[]` of path and message.
"""

from typing import Annotated, Any

from msgspec import Meta, field

from wire import patterns
from wire.answer_detection import Detection
from wire.base import Labels, Name, Party, Shape
from wire.callback_targets import StatusTarget
from wire.verbs import Action, Verb

RequestId = Annotated[str, Meta(pattern=patterns.REQUEST_ID)]
OnMachine = Annotated[str, Meta(pattern=patterns.ON_MACHINE, max_length=2048)]


class AnsweredDetection(Detection, frozen=True):
    """Detection on a call that is made.

    For a machine the call goes on (`continue`), ends (`hangup`), or runs another action, an object
    or an address.
    """

    on_machine: OnMachine | Verb = "continue"


class RecordCall(Shape, frozen=True):
    """Whether to record, in the form that the guide's examples have."""

    enable: bool = False


class Originate(Shape, frozen=True):
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


class Started(Shape, frozen=True):
    """The call that an originate made, or had made before."""

    call_id: str


class NumberRoute(Shape, frozen=True):
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


class FlowVersion(Shape, frozen=True):
    """A flow, and the number of its newest version."""

    flow_id: str
    version: int


class Flows(Shape, frozen=True):
    """The flows of an account."""

    flows: tuple[FlowVersion, ...]


class FlowVersions(Shape, frozen=True):
    """The versions of a flow that are kept."""

    flow_id: str
    versions: tuple[int, ...]


class NodeView(Shape, frozen=True):
    """One PBX node: `calls` are those of all engines, what else changes is as this engine sees it.

    `unavailableReason` says why it gets no new call: a code as calls are rejected with, empty when
    it gets them. What its manager interface tells: `coreCalls`, how many calls it counts itself,
    and of all packets of late the part that was lost on the way to it, and their jitter.
    """

    name: str
    connected: bool
    calls: int
    drained: bool = False
    unavailable_reason: str = ""
    weight: float = 1.0
    max_calls: int | None = None
    max_calls_per_s: int | None = None
    ami_connected: bool = False  # by its manager interface
    trunk_reachable: bool = True
    unregistered: tuple[str, ...] = ()  # as whom it is refused where it registers
    core_calls: int | None = None
    loss: float = 0.0
    jitter_ms: float = 0.0


class Nodes(Shape, frozen=True):
    """The PBX nodes."""

    nodes: tuple[NodeView, ...]


class FieldError(Shape, frozen=True):
    """One thing wrong with the input."""

    path: str
    message: str
    code: str = ""


class Problem(Shape, frozen=True):
    """What went wrong (RFC 9457)."""

    title: str
    status: int
    code: str
    detail: str = ""
    errors: tuple[FieldError, ...] = ()
    type: str = "about:blank"
