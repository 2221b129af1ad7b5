"""A flow: a named document of nodes that calls run by its id.

A node is a verb, or controls the flow: menu, condition, set, goto and request. A node without
`next` ends the flow; the call continues with what follows the flow. `onError` is the next node when
the audio of a node cannot be played.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, field

from wire.answer_detection import Prompt
from wire.base import Milliseconds, Name, Seconds, Shape
from wire.custom_data import MAX_BYTES
from wire.decoding import patterns
from wire.verbs import (
    DialData,
    FlowData,
    GatherData,
    HangupData,
    MusicOnHold,
    PauseData,
    PlayData,
    RecordData,
    SayData,
    StreamData,
)

Scalar = str | int | float | bool  # of responses: text where a number is too large
StoredNumber = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]  # that can be stored with a call
DocumentScalar = str | StoredNumber | float | bool  # in a document
ApiRequestId = Annotated[str, Meta(pattern=patterns.HEX_ID)]
Variable = Annotated[str, Meta(pattern=patterns.VARIABLE)]
Reference = Annotated[str, Meta(pattern=patterns.REFERENCE)]
Branch = Annotated[str, Meta(pattern=patterns.BRANCH)]
Kind = Literal["voice", "message"]
CaseText = Annotated[str, Meta(max_length=MAX_BYTES + 1)]  # longer than any compared value
Operator = Literal["eq", "ne", "lt", "gt", "contains", "startsWith", "exists"]
MAX_NODES = 200
MAX_CALL_S = 7 * 86_400  # the versions of a deleted flow are kept for the calls that run it


class PlayNode(Shape, frozen=True, tag="play"):
    """Play audio to the caller."""

    data: PlayData
    next: Name | None = None
    timeout: Seconds | None = None
    on_error: Name | None = None


class SayNode(Shape, frozen=True, tag="say"):
    """Speak a text to the caller."""

    data: SayData
    next: Name | None = None
    timeout: Seconds | None = None
    on_error: Name | None = None


class GatherNode(Shape, frozen=True, tag="gather"):
    """Collect digits or speech, available as `{{digits}}` and `{{speech}}` afterwards."""

    data: GatherData = GatherData()
    next: Name | None = None
    timeout: Seconds | None = None
    on_error: Name | None = None


class RecordNode(Shape, frozen=True, tag="record"):
    """Record a message, available at `{{record.url}}` afterwards."""

    data: RecordData = RecordData()
    next: Name | None = None
    timeout: Seconds | None = None
    on_error: Name | None = None


class PauseNode(Shape, frozen=True, tag="pause"):
    """Wait in silence."""

    data: PauseData
    next: Name | None = None


class StreamNode(Shape, frozen=True, tag="stream"):
    """Connect the caller with a bot; why that ended is `{{stream.reason}}` afterwards."""

    data: StreamData
    next: Name | None = None
    timeout: Seconds | None = None


class DialNode(Shape, frozen=True, tag="dial"):
    """Dial a party; the result is `{{dial.status}}` afterwards."""

    data: DialData
    next: Name | None = None
    timeout: Seconds | None = None
    moh: MusicOnHold | None = None


class FlowNode(Shape, frozen=True, tag="flow"):
    """Run another flow, with the same variables."""

    data: FlowData
    next: Name | None = None


class HangupNode(Shape, frozen=True, tag="hangup"):
    """End the call."""

    data: HangupData = HangupData()


class MenuData(Prompt, frozen=True):
    """The prompt of a menu, and its timeouts in milliseconds."""

    timeout: Milliseconds = 5_000
    digit_timeout: Milliseconds = 2_000
    terminator: Annotated[str, Meta(pattern=patterns.TERMINATOR)] = ""
    type_ahead: bool = True


class MenuNode(Shape, frozen=True, tag="menu"):
    """Let the caller choose: the next node for each choice, for silence and for invalid keys."""

    branches: Annotated[dict[Branch, Name], Meta(min_length=1, max_length=40)]
    no_input: Name
    invalid: Name
    data: MenuData = MenuData()
    on_error: Name | None = None


class ConditionCase(Shape, frozen=True):
    """One case of a condition: a variable compared with a value."""

    variable: Reference
    next: Name
    operator: Operator = "eq"
    value: CaseText | StoredNumber | float | bool | None = None


class ConditionNode(Shape, frozen=True, tag="condition"):
    """Continue at the node of the first case that is true, or of `else`."""

    cases: Annotated[tuple[ConditionCase, ...], Meta(min_length=1, max_length=40)]
    else_: Name = field(name="else")


class SetNode(Shape, frozen=True, tag="set"):
    """Set variables, available as `{{vars.name}}` afterwards; null removes one."""

    variables: Annotated[dict[Variable, DocumentScalar | None], Meta(min_length=1, max_length=64)]
    next: Name | None = None


class GotoNode(Shape, frozen=True, tag="goto"):
    """Go to a node, at most `limit` times in a call; then to `next`, or the call ends."""

    node: Name
    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    next: Name | None = None


class RequestData(Shape, frozen=True):
    """The stored API request to send; meanwhile the caller hears silence, or music."""

    request_id: ApiRequestId
    moh: MusicOnHold = MusicOnHold()

    @property
    def api(self) -> str:
        """The id as stored."""
        return self.request_id.lower()


class RequestNode(Shape, frozen=True, tag="request"):
    """Send an API request; its answers are `{{answers.node.name}}` afterwards."""

    data: RequestData
    success: Name
    failure: Name


Node = (
    PlayNode
    | SayNode
    | GatherNode
    | RecordNode
    | PauseNode
    | StreamNode
    | DialNode
    | FlowNode
    | HangupNode
    | MenuNode
    | ConditionNode
    | SetNode
    | GotoNode
    | RequestNode
)


class FlowDocument(Shape, frozen=True):
    """A whole flow; `inputs` are variables that its caller sets.

    `kind`: run by calls, or by conversations of a messaging number.
    """

    start: Name
    nodes: Annotated[dict[Name, Node], Meta(min_length=1, max_length=MAX_NODES)]
    name: Annotated[str, Meta(max_length=120)] = ""
    inputs: Annotated[tuple[Variable, ...], Meta(max_length=64)] = ()
    kind: Kind = "voice"


class FlowOutline(Shape, frozen=True):
    """A flow with unparsed nodes, whose strings may contain templates."""

    start: Name
    nodes: Annotated[dict[Name, dict[str, Any]], Meta(min_length=1, max_length=MAX_NODES)]
    name: Annotated[str, Meta(max_length=120)] = ""
    inputs: Annotated[tuple[Variable, ...], Meta(max_length=64)] = ()
    kind: Kind = "voice"
