"""A flow: a named document of nodes that calls run by its id.

A node is a verb (with `next` in place of `action`), or controls the flow: menu, condition, set,
goto and request. A node without `next` ends the flow; the call continues with what follows the
flow. `onError` is the next node when the audio of a node cannot be played.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union, get_args

from msgspec import NODEFAULT, Meta, defstruct, field
from msgspec.structs import fields

from wire.answer_detection import Prompt
from wire.base import Milliseconds, Name, Shape, tag_of
from wire.custom_data import MAX_BYTES
from wire.decoding import patterns
from wire.verbs import Gather, GatherData, MusicOnHold, Verb

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


Exits = tuple[tuple[str, str], ...]


class NodeShape(Shape, frozen=True):
    """Base of the nodes: what holds of one unless it says otherwise."""

    needs_call: ClassVar[bool] = False  # it can't run in a conversation of messages
    waits: ClassVar[bool] = False  # for a caller, a party or a server
    results: ClassVar[tuple[str, ...]] = ()  # the variables that its verb sets

    @property
    def verb(self) -> Verb | None:
        """The verb that the node runs; None for a node that only leads to others."""
        return None

    @property
    def exits(self) -> Exits:
        """Where it leads: (field that names the next node, next node)."""
        named = (
            ("next", getattr(self, "next", None)),
            ("onError", getattr(self, "on_error", None)),
        )
        return tuple((field_, name) for field_, name in named if name is not None)


class VerbNode(NodeShape, frozen=True):
    """Base of the nodes that run a verb, whose fields they have."""

    kind: ClassVar[type[Verb]]
    own: ClassVar[tuple[str, ...]] = ("next", "on_error")

    @property
    def verb(self) -> Verb:
        names = (each for each in self.__struct_fields__ if each not in self.own)
        return self.kind(**{name: getattr(self, name) for name in names})


def _node_of(verb: type[Any]) -> type[VerbNode]:
    """Return the node of a verb: it names the next nodes instead of the next verbs."""
    edges = {"action": "next", "on_error": "on_error"}
    made: list[Any] = []
    for each in fields(verb):
        if each.name in verb.node_omits:
            continue
        if each.name in edges:
            made.append((edges[each.name], Name | None, None))
        elif each.default is NODEFAULT:
            made.append((each.name, each.type))
        else:
            made.append((each.name, each.type, each.default))
    traits = {name: getattr(verb, name) for name in ("needs_call", "waits", "results")}
    node: type[Any] = defstruct(
        f"{tag_of(verb).title()}Node",
        made,
        bases=(VerbNode,),
        module=__name__,
        namespace={"__doc__": verb.node, "kind": verb, **traits},
        tag=tag_of(verb),
        frozen=True,
    )
    return node


VERB_NODES: Mapping[type[Verb], Any] = {each: _node_of(each) for each in get_args(Verb)}


class MenuData(Prompt, frozen=True):
    """The prompt of a menu, and its timeouts in milliseconds."""

    timeout: Milliseconds = 5_000
    digit_timeout: Milliseconds = 2_000
    terminator: Annotated[str, Meta(pattern=patterns.TERMINATOR)] = ""
    type_ahead: bool = True


class MenuNode(NodeShape, frozen=True, tag="menu"):
    """Let the caller choose: the next node for each choice, for silence and for invalid keys."""

    needs_call = True
    waits = True
    results = ("digits",)

    branches: Annotated[dict[Branch, Name], Meta(min_length=1, max_length=40)]
    no_input: Name
    invalid: Name
    data: MenuData = MenuData()
    on_error: Name | None = None

    @property
    def verb(self) -> Gather:
        data = self.data
        gathered = GatherData(
            audio_url=data.audio_url,
            text=data.text,
            voice=data.voice,
            language=data.language,
            max_digits=max(map(len, self.branches)),
            timeout=data.timeout,
            digit_timeout=data.digit_timeout,
            terminator=data.terminator,
            type_ahead=data.type_ahead,
        )
        return Gather(gathered)

    @property
    def exits(self) -> Exits:
        by_digits = ((f"branches.{digits}", name) for digits, name in self.branches.items())
        return (*by_digits, ("noInput", self.no_input), ("invalid", self.invalid), *super().exits)


class ConditionCase(Shape, frozen=True):
    """One case of a condition: a variable compared with a value."""

    variable: Reference
    next: Name
    operator: Operator = "eq"
    value: CaseText | StoredNumber | float | bool | None = None


class ConditionNode(NodeShape, frozen=True, tag="condition"):
    """Continue at the node of the first case that is true, or of `else`."""

    cases: Annotated[tuple[ConditionCase, ...], Meta(min_length=1, max_length=40)]
    else_: Name = field(name="else")

    @property
    def exits(self) -> Exits:
        by_case = ((f"cases[{index}].next", each.next) for index, each in enumerate(self.cases))
        return (*by_case, ("else", self.else_))


class SetNode(NodeShape, frozen=True, tag="set"):
    """Set variables, available as `{{vars.name}}` afterwards; null removes one."""

    variables: Annotated[dict[Variable, DocumentScalar | None], Meta(min_length=1, max_length=64)]
    next: Name | None = None


class GotoNode(NodeShape, frozen=True, tag="goto"):
    """Go to a node, at most `limit` times in a call; then to `next`, or the call ends."""

    node: Name
    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    next: Name | None = None

    @property
    def exits(self) -> Exits:
        return (("node", self.node), *super().exits)


class RequestData(Shape, frozen=True):
    """The stored API request to send; meanwhile the caller hears silence, or music."""

    request_id: ApiRequestId
    moh: MusicOnHold = MusicOnHold()

    @property
    def api(self) -> str:
        """The id as stored."""
        return self.request_id.lower()


class RequestNode(NodeShape, frozen=True, tag="request"):
    """Send an API request; its answers are `{{answers.node.name}}` afterwards."""

    waits = True

    data: RequestData
    success: Name
    failure: Name

    @property
    def exits(self) -> Exits:
        return (("success", self.success), ("failure", self.failure))


ControlNode = MenuNode | ConditionNode | SetNode | GotoNode | RequestNode
if TYPE_CHECKING:
    Node = VerbNode | ControlNode
else:
    Node = Union[(*VERB_NODES.values(), *get_args(ControlNode))]


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
