"""The nodes of flows, read as what a call runs: each one's exits, and the verb that it is."""

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
    PlayNode,
    RecordNode,
    RequestNode,
    SayNode,
)
from wire.verbs import GatherData, Verb

Exits = tuple[tuple[str, str], ...]


def exits(node: Node) -> Exits:
    """List where a node leads, by the field that says so."""
    match node:
        case MenuNode(branches=branches, no_input=no_input, invalid=invalid):
            chosen = ((f"branches.{keys}", name) for keys, name in branches.items())
            return (*chosen, ("noInput", no_input), ("invalid", invalid))
        case ConditionNode(cases=cases, else_=otherwise):
            held = ((f"cases[{place}].next", each.next) for place, each in enumerate(cases))
            return (*held, ("else", otherwise))
        case RequestNode(success=success, failure=failure):
            return (("success", success), ("failure", failure))
        case HangupNode():
            return ()
        case GotoNode(node=name):
            return (("node", name), *_next(node.next))
        case _:
            return _next(node.next)


def _next(name: str | None) -> Exits:
    return () if name is None else (("next", name),)


def verb_of(node: Node) -> Verb | None:
    """Give the verb that a node is; None for those that only move the call on."""
    match node:
        case PlayNode(data=data):
            return verbs.Play(data, timeout=node.timeout)
        case SayNode(data=data):
            return verbs.Say(data, timeout=node.timeout)
        case GatherNode(data=data):
            return verbs.Gather(data, timeout=node.timeout)
        case RecordNode(data=data):
            return verbs.Record(data, timeout=node.timeout)
        case DialNode(data=data):
            return verbs.Dial(data, timeout=node.timeout, moh=node.moh)
        case FlowNode(data=data):
            return verbs.Flow(data)
        case HangupNode():
            return verbs.Hangup()
        case MenuNode():
            return _gather(node)
        case _:
            return None


def _gather(menu: MenuNode) -> verbs.Gather:
    asked = menu.data
    data = GatherData(
        audio_url=asked.audio_url,
        text=asked.text,
        voice=asked.voice,
        language=asked.language,
        max_digits=max(map(len, menu.branches)),
        timeout=asked.timeout,
        digit_timeout=asked.digit_timeout,
        terminator=asked.terminator,
    )
    return verbs.Gather(data)
