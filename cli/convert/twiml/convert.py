"""Converts a whole document."""

from cli.convert.actions import Action, verb
from cli.convert.context import UNKNOWN, Context
from cli.convert.remarks import Remarks
from cli.convert.result import Converted, checked
from cli.convert.twiml.complete import complete
from cli.convert.twiml.document import Element, read_document
from cli.convert.twiml.verbs import convert_verb, is_last, may_go_on


def convert(content: bytes, context: Context = UNKNOWN) -> Converted:
    """Convert a document; raises DocumentError if it is not TwiML."""
    remarks = Remarks()
    root = complete(read_document(content), context, remarks)
    if root.text:
        remarks.lose(root, "has text beside its verbs, which is left out")
    action: Action = None
    for each in reversed(_reached(root, remarks)):
        action = convert_verb(each, action, remarks)
    return checked(root, action or verb("hangup", {}), remarks, divided="<Redirect>")


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
