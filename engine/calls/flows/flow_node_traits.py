"""What the nodes of flows do: their exits, their verbs, the variables that they set."""

from wire import verbs
from wire.flow import (
    ConditionNode,
    DialNode,
    FlowNode,
    GatherNode,
    GotoNode,
    HangupNode,
    MenuNode,
    Node,
    PauseNode,
    PlayNode,
    RecordNode,
    RequestNode,
    SayNode,
    SetNode,
    StreamNode,
)
from wire.verbs import GatherData, Verb

Exits = tuple[tuple[str, str], ...]
DIGITS = frozenset({"digits"})
SPEECH = frozenset({"speech"})
DIAL_RESULTS = frozenset(
    f"dial.{each}" for each in ("status", "cause", "duration", "number", "answeredBy", "reason")
)
STREAM_RESULTS = frozenset({"stream.reason"})
RECORD_RESULTS = frozenset({"record.url", "record.duration"})


def exits(node: Node) -> Exits:
    """Return a node's exits: (field that names the next node, next node)."""
    match node:
        case MenuNode(branches=branches, no_input=no_input, invalid=invalid):
            by_digits = ((f"branches.{digits}", name) for digits, name in branches.items())
            exits_ = (*by_digits, ("noInput", no_input), ("invalid", invalid))
            return (*exits_, *_on_error(node.on_error))
        case PlayNode() | SayNode() | GatherNode() | RecordNode():
            return (*_next(node.next), *_on_error(node.on_error))
        case ConditionNode(cases=cases, else_=otherwise):
            by_case = ((f"cases[{index}].next", each.next) for index, each in enumerate(cases))
            return (*by_case, ("else", otherwise))
        case RequestNode(success=success, failure=failure):
            return (("success", success), ("failure", failure))
        case HangupNode():
            return ()
        case GotoNode(node=name):
            return (("node", name), *_next(node.next))
        case PauseNode() | StreamNode() | DialNode() | FlowNode() | SetNode():
            return _next(node.next)


def _next(name: str | None) -> Exits:
    return () if name is None else (("next", name),)


def _on_error(name: str | None) -> Exits:
    return () if name is None else (("onError", name),)


def verb_of(node: Node) -> Verb | None:
    """Return the verb that a node runs; None for a node that only leads to others."""
    match node:
        case PauseNode(data=data):
            return verbs.Pause(data)
        case FlowNode(data=data):
            return verbs.Flow(data)
        case HangupNode():
            return verbs.Hangup()
        case MenuNode():
            return _gather(node)
        case ConditionNode() | SetNode() | GotoNode() | RequestNode():
            return None
        case _:
            return _verb_with_timeout(node)


def _verb_with_timeout(
    node: PlayNode | SayNode | GatherNode | RecordNode | StreamNode | DialNode,
) -> Verb:
    match node:
        case PlayNode(data=data):
            return verbs.Play(data, timeout=node.timeout)
        case SayNode(data=data):
            return verbs.Say(data, timeout=node.timeout)
        case GatherNode(data=data):
            return verbs.Gather(data, timeout=node.timeout)
        case RecordNode(data=data):
            return verbs.Record(data, timeout=node.timeout)
        case StreamNode(data=data):
            return verbs.Stream(data, timeout=node.timeout)
        case DialNode(data=data):
            return verbs.Dial(data, timeout=node.timeout, moh=node.moh)


def _gather(menu: MenuNode) -> verbs.Gather:
    data = menu.data
    gather_data = GatherData(
        audio_url=data.audio_url,
        text=data.text,
        voice=data.voice,
        language=data.language,
        max_digits=max(map(len, menu.branches)),
        timeout=data.timeout,
        digit_timeout=data.digit_timeout,
        terminator=data.terminator,
        type_ahead=data.type_ahead,
    )
    return verbs.Gather(gather_data)


def waits_for_input(node: Node) -> bool:
    """Return whether a node waits for a caller, a party or a server.

    A nested flow may, and may do so later, when it is another one; if it does not, the call ends
    after as many nodes as a call may run (`too_many_verbs`).
    """
    match node:
        case GatherNode() | MenuNode() | RecordNode() | StreamNode() | DialNode():
            return True
        case RequestNode() | FlowNode():
            return True
        case PlayNode() | SayNode() | PauseNode() | HangupNode():
            return False
        case ConditionNode() | SetNode() | GotoNode():
            return False


def needs_call(node: Node) -> bool:
    """Return whether a node runs only in calls, and not in conversations of messages."""
    match node:
        case SayNode() | SetNode() | ConditionNode() | GotoNode() | RequestNode() | FlowNode():
            return False
        case PlayNode() | GatherNode() | MenuNode() | RecordNode():
            return True
        case PauseNode() | StreamNode() | DialNode() | HangupNode():
            return True


def result_names(node: Node) -> frozenset[str]:
    """Return the variables that a node's verb sets; flows and requests are known to the caller."""
    match node:
        case GatherNode():
            return DIGITS | SPEECH
        case MenuNode():
            return DIGITS
        case DialNode():
            return DIAL_RESULTS
        case RecordNode():
            return RECORD_RESULTS
        case StreamNode():
            return STREAM_RESULTS
        case PlayNode() | SayNode() | PauseNode() | HangupNode() | FlowNode():
            return frozenset()
        case ConditionNode() | SetNode() | GotoNode() | RequestNode():
            return frozenset()
