"""The internal RPC, as JSON: requests of the REST layer and the command line to an engine.

Errors are RFC 9457 problems with a `code` and, for bad input, `errors[]` of path and message.
"""

from typing import Annotated, Any

from msgspec import Meta, field

from wire.answer_detection import Detection
from wire.base import CallerId, Labels, Name, Party, Shape
from wire.callbacks.targets import StatusTarget
from wire.decoding import patterns
from wire.verbs import Action, Verb

RequestId = Annotated[str, Meta(pattern=patterns.REQUEST_ID)]
OnMachine = Annotated[str, Meta(pattern=patterns.ON_MACHINE, max_length=2048)]


class AnsweredDetection(Detection, frozen=True):
    """Machine detection on an originated call.

    For a machine the call continues (`continue`), ends (`hangup`), or runs another action, an
    object or an address.
    """

    on_machine: OnMachine | Verb = "continue"


class RecordCall(Shape, frozen=True):
    """Whether to record, in the form of the guide's examples."""

    enable: bool = False


class Originate(Shape, frozen=True):
    """Start a call.

    `to` is called showing `from`, then the action runs on that leg. With `fromFirst`, `from` is
    called first, then `to` is dialed and bridged to it, and the action runs after that.
    The same `requestId` again returns the same call. A flow runs with `contact`.
    `machineDetection`, true or settings, applies to `to`; with `fromFirst`, to that dial.
    `labels` are only part of the call record. `fallback` runs instead if the action is a webhook or
    a flow that fails; there is none with `fromFirst`.
    Events are delivered to `statusCallbackUrl`, or else to the account's target.
    """

    account: Name
    from_: Party = field(name="from")
    to: Party
    action: Action | None = None
    flow_id: Name | None = None
    from_first: bool = False
    caller_id: CallerId | None = None
    timeout: Annotated[float, Meta(gt=0, le=600)] = 60.0  # seconds of ringing
    custom_data: dict[str, Any] | None = None
    contact: dict[str, Any] | None = None
    request_id: RequestId | None = None
    node: Name | None = None
    machine_detection: AnsweredDetection | bool = False

    record_call: bool | RecordCall = False  # from the answer on
    labels: Labels | None = None
    status_callback_url: StatusTarget | None = None
    fallback: Verb | None = None

    @property
    def is_recorded(self) -> bool:
        """Whether the call is to be recorded, in either form."""
        return is_enabled(self.record_call)


class StartedCall(Shape, frozen=True):
    """The call that an originate started now, or before."""

    call_id: str


class NumberRoute(Shape, frozen=True):
    """The account of calls to a number, and the action they run.

    `fallback` runs instead if the action is a webhook or a flow that fails.
    """

    account: Name
    action: Action
    custom_data: dict[str, Any] | None = None
    record_call: bool | RecordCall = False
    labels: Labels | None = None  # part of the records of its calls
    status_callback_url: StatusTarget | None = None
    answer: bool = True  # false: its calls ring until the tree needs media
    fallback: Verb | None = None
    allow_listeners: bool = False  # a developer's machine may answer its calls' webhooks

    @property
    def is_recorded(self) -> bool:
        """Whether its calls are to be recorded, in either form."""
        return is_enabled(self.record_call)


def is_enabled(setting: bool | RecordCall) -> bool:
    """Return the value of either form of a setting."""
    return setting if isinstance(setting, bool) else setting.enable


class NodeView(Shape, frozen=True):
    """One PBX node: `calls` are those of all engines, other states are as this engine sees them.

    `unavailableReason` is the rejection code for new calls, empty when the node accepts them. From
    the manager interface: `coreCalls`, the node's own count of calls, and the loss and jitter of
    recently received packets.
    """

    name: str
    connected: bool
    calls: int
    drained: bool = False
    unavailable_reason: str = ""
    weight: float = 1.0
    max_calls: int | None = None
    max_calls_per_s: int | None = None
    ami_connected: bool = False  # the manager interface
    trunk_reachable: bool = True
    unregistered: tuple[str, ...] = ()  # its own registrations that failed
    core_calls: int | None = None
    loss: float = 0.0
    jitter_ms: float = 0.0


class Nodes(Shape, frozen=True):
    """The PBX nodes."""

    nodes: tuple[NodeView, ...]


class PhoneLogin(Shape, frozen=True):
    """At which node a phone has logged in, and when by the store's clock."""

    node: str
    at_ms: int


class PhoneReport(Shape, frozen=True):
    """What an engine shares: the endpoints of nodes that it supervises, and last logins."""

    endpoints: dict[str, tuple[str, ...]]  # by node
    logins: dict[str, PhoneLogin]  # by endpoint without its technology


class GetDigits(Shape, frozen=True):
    """Which digits an engine lacks: those of some legs on a node."""

    node: str
    legs: tuple[str, ...]


class HeardDigit(Shape, frozen=True):
    """A digit that an engine has heard, sealed; times are by the store's clock and the PBX's."""

    leg: str
    digit: str
    pressed_ms: int
    held_ms: int
    pbx_ms: int


class HeardDigits(Shape, frozen=True):
    """The digits that an engine has heard."""

    digits: tuple[HeardDigit, ...] = ()


class Slots(Shape, frozen=True):
    """How many slots of each node get new calls, and the highest number that there was."""

    slots: int
    highest: int


class PutSlots(Shape, frozen=True):
    """Change how many slots of each node get new calls."""

    slots: Annotated[int, Meta(ge=1, le=64)]


class FieldError(Shape, frozen=True):
    """One error in the input."""

    path: str
    message: str
    code: str = ""


class Problem(Shape, frozen=True):
    """An error response (RFC 9457)."""

    title: str
    status: int
    code: str
    detail: str = ""
    errors: tuple[FieldError, ...] = ()
    type: str = "about:blank"
