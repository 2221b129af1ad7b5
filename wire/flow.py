"""A flow: a named document of nodes that calls run by its id.

A node is one of the verbs, or one of those that move the call on: menu, condition, set, goto and
request. What is left out of `next` ends the flow; the call then goes on with what comes after it.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, field

from wire import patterns
from wire.answer_detection import Prompt
from wire.base import Milliseconds, Name, Seconds, Shape
from wire.verbs import (
    DialData,
    FlowData,
    GatherData,
    HangupData,
    MusicOnHold,
    PlayData,
    RecordData,
    SayData,
)

Scalar = str | int | float | bool  # as answers bring them: texts where a number is too large
StoredNumber = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]  # that can be stored with a call
DocumentScalar = str | StoredNumber | float | bool  # in a document
ApiRequestId = Annotated[str, Meta(pattern=patterns.HEX_ID)]
Variable = Annotated[str, Meta(pattern=patterns.VARIABLE)]
Reference = Annotated[str, Meta(pattern=patterns.REFERENCE)]
Branch = Annotated[str, Meta(pattern=patterns.BRANCH)]
Kind = Literal["voice", "message"]
Operator = Literal["eq", "ne", "lt", "gt", "contains", "startsWith", "exists"]
MAX_NODES = 200


class PlayNode(Shape, frozen=True, tag="play"):
    """Play audio to the caller."""

    data: PlayData
    next: Name | None = None
    timeout: Seconds | None = None


class SayNode(Shape, frozen=True, tag="say"):
    """Speak a text to the caller."""

    data: SayData
    next: Name | None = None
    timeout: Seconds | None = None


class GatherNode(Shape, frozen=True, tag="gather"):
    """Collect digits, which are `{{digits}}` from then on."""

    data: GatherData = GatherData()
    next: Name | None = None
    timeout: Seconds | None = None


class RecordNode(Shape, frozen=True, tag="record"):
    """Record a message; it is at `{{record.url}}` from then on."""

    data: RecordData = RecordData()
    next: Name | None = None
    timeout: Seconds | None = None


class DialNode(Shape, frozen=True, tag="dial"):
    """Call someone; how it ended is `{{dial.status}}` from then on."""

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
    """The prompt of a menu, and its clocks in milliseconds."""

    timeout: Milliseconds = 5_000
    digit_timeout: Milliseconds = 2_000
    terminator: Annotated[str, Meta(pattern=patterns.TERMINATOR)] = ""


class MenuNode(Shape, frozen=True, tag="menu"):
    """Let the caller choose: where each choice leads, where silence does, and any other key."""

    branches: Annotated[dict[Branch, Name], Meta(min_length=1, max_length=40)]
    no_input: Name
    invalid: Name
    data: MenuData = MenuData()


class Case(Shape, frozen=True):
    """One case of a condition: a variable compared with a value."""

    variable: Reference
    next: Name
    operator: Operator = "eq"
    value: Annotated[str, Meta(max_length=1024)] | StoredNumber | float | bool | None = None


class ConditionNode(Shape, frozen=True, tag="condition"):
    """Go where the first case that holds leads, or else elsewhere."""

    cases: Annotated[tuple[Case, ...], Meta(min_length=1, max_length=40)]
    else_: Name = field(name="else")


class SetNode(Shape, frozen=True, tag="set"):
    """Set variables, which are `{{vars.name}}` from then on; null takes one away."""

    variables: Annotated[dict[Variable, DocumentScalar | None], Meta(min_length=1, max_length=64)]
    next: Name | None = None


class GotoNode(Shape, frozen=True, tag="goto"):
    """Go to a node, at most so often in a call; then to `next`, or the call ends."""

    node: Name
    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    next: Name | None = None


class RequestData(Shape, frozen=True):
    """Which stored API request to send; while it is, the caller hears silence, or music."""

    request_id: ApiRequestId
    moh: MusicOnHold = MusicOnHold()

    @property
    def api(self) -> str:
        """The id as the store has it."""
        return self.request_id.lower()


class RequestNode(Shape, frozen=True, tag="request"):
    """Send an API request; what it answers is `{{answers.node.name}}` from then on."""

    data: RequestData
    success: Name
    failure: Name


Node = (
    PlayNode
    | SayNode
    | GatherNode
    | RecordNode
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
    """A whole flow; `inputs` are variables that whoever runs it has set before.

    Its kind says what runs it: calls, or the conversations of a messaging number.
    """

    start: Name
    nodes: Annotated[dict[Name, Node], Meta(min_length=1, max_length=MAX_NODES)]
    name: Annotated[str, Meta(max_length=120)] = ""
    inputs: Annotated[tuple[Variable, ...], Meta(max_length=64)] = ()
    kind: Kind = "voice"


class FlowOutline(Shape, frozen=True):
    """A flow whose nodes are not looked at yet: the strings of each may hold templates."""

    start: Name
    nodes: Annotated[dict[Name, dict[str, Any]], Meta(min_length=1, max_length=MAX_NODES)]
    name: Annotated[str, Meta(max_length=120)] = ""
    inputs: Annotated[tuple[Variable, ...], Meta(max_length=64)] = ()
    kind: Kind = "voice"
