"""Converts a whole document, and checks the tree with the parser of engines."""

import json

from msgspec import Struct

from engine.cli.twiml.actions import Action, verb
from engine.cli.twiml.complete import Context, complete
from engine.cli.twiml.document import Element, TwimlError, read_document
from engine.cli.twiml.remarks import Remark, Remarks
from engine.cli.twiml.verbs import convert_verb, is_last, may_go_on
from wire.decoding.errors import BadInput, errors_in
from wire.party import Party
from wire.tree import DEFAULT_LIMITS, Limits, parse_action


class Converted(Struct, frozen=True):
    """The tree, or the address that is requested first, and what the reader should know."""

    action: Action
    remarks: tuple[Remark, ...]

    @property
    def is_complete(self) -> bool:
        """Return whether the tree does all that the document did."""
        return not any(each.is_lost for each in self.remarks)


UNKNOWN = Context()


def convert(content: bytes, context: Context = UNKNOWN) -> Converted:
    """Convert a document; raises TwimlError if it is not TwiML."""
    remarks = Remarks()
    root = complete(read_document(content), context, remarks)
    if root.text:
        remarks.lose(root, "has text beside its verbs, which is left out")
    action: Action = None
    for each in reversed(_reached(root, remarks)):
        action = convert_verb(each, action, remarks)
    action = action or verb("hangup", {})
    if _depth(action) > DEFAULT_LIMITS.depth:
        text = f"more than {DEFAULT_LIMITS.depth} verbs in a row: divide it by <Redirect>"
        raise TwimlError(0, text)
    _check(root, action, remarks)
    return Converted(action, remarks.sorted())


def _reached(root: Element, remarks: Remarks) -> tuple[Element, ...]:
    """Return the verbs up to the first one that nothing follows."""
    ends = [at for at, each in enumerate(root.children) if is_last(each)]
    if not ends:
        return root.children
    end = root.children[ends[0]]
    for each in root.children[ends[0] + 1 :]:
        if may_go_on(end):
            text = "Twilio runs it if nothing was recorded; here `action` is requested then, too"
            remarks.lose(each, f"after <{end.name}> is left out: {text}")
        else:
            remarks.note(each, f"is left out: never reached, because <{end.name}> is before it")
    return root.children[: ends[0] + 1]


def _check(root: Element, action: Action, remarks: Remarks) -> None:
    """Remark what engines would reject: a text that is too long, too many verbs."""
    hosts = tuple(sorted(_sip_hosts(action)))
    try:
        parse_action(json.dumps(action).encode(), Limits(allow_insecure=True, sip_hosts=hosts))
    except BadInput as found:
        for error in errors_in(found):
            if error.code != "insecure_url":  # remarked where it is
                remarks.lose(root, f"engines reject the tree: {error}")


def _depth(action: Action) -> int:
    """Return how many verbs follow one another, without recursion: it may be thousands."""
    deepest, found = 0, [(action, 1)]
    while found:
        each, depth = found.pop()
        if isinstance(each, dict):
            deepest = max(deepest, depth)
            found += [(each.get("action"), depth + 1), (each["data"].get("fallback"), depth + 1)]
    return deepest


def _sip_hosts(action: object) -> set[str]:
    """Return the hosts of all SIP addresses in a tree, which an operator has to allow."""
    match action:
        case dict():
            return {host for each in action.values() for host in _sip_hosts(each)}
        case list():
            return {host for each in action for host in _sip_hosts(each)}
        case str() if action.startswith(("sip:", "sips:")):
            return {Party.parse(action).host}
        case _:
            return set()
