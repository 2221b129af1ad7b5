"""Converts a document: each element and what follows it become a verb of a tree.

What follows is an action: a verb, an address, or None at the end of the document. Before that, the
document is completed: relative addresses by its own address, phone numbers by a country. What
cannot be completed stays as it is, and is remarked where it is converted.
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from cli.convert.addresses import checked_address, resolved, resolved_stream
from cli.convert.context import UNKNOWN, Context, with_country
from cli.convert.result import Action, Converted, Remarks, checked, verb
from cli.convert.twiml import attributes
from cli.convert.twiml.attributes import alternative, check_content
from cli.convert.twiml.dial import dial
from cli.convert.twiml.document import Element, read_document
from cli.convert.twiml.gather import OWN_ADDRESS, gather, requests_without_input
from cli.convert.twiml.prompts import PROMPTS, Converter
from cli.convert.twiml.streams import connect, start, stop

ANY_KEY = "1234567890*#"
LAST = {"Hangup", "Reject", "Redirect"}
WITH_OWN_ADDRESS = {"Gather", "Record"}  # without an action they request their document
ADDRESS_TEXTS = {"Play", "Redirect"}
NUMBER_TEXTS = {"Dial", "Number"}


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


def complete(element: Element, given: Context, remarks: Remarks) -> Element:
    """Return the element with all that is in it, completed."""
    content = tuple(
        complete(each, given, remarks) if isinstance(each, Element) else each
        for each in element.content
    )
    completed = replace(element, content=content)
    if given.base_url:
        completed = _with_addresses(completed, given.base_url)
    if given.region:
        completed = _with_numbers(completed, given.region, remarks)
    return completed


def _with_addresses(element: Element, base_url: str) -> Element:
    """Resolve addresses as Twilio does; without an `action` some verbs request the document."""
    action = element.attributes.get("action", "").strip()
    if action or element.name in WITH_OWN_ADDRESS:
        address = resolved(base_url, action)
        element = replace(element, attributes={**element.attributes, "action": address})
    if element.name in ADDRESS_TEXTS and element.text:
        element = _with_text(element, resolved(base_url, element.text))
    if element.name == "Stream" and (url := element.attributes.get("url", "").strip()):
        address = resolved_stream(base_url, url)
        element = replace(element, attributes={**element.attributes, "url": address})
    return element


def _with_numbers(element: Element, region: str, remarks: Remarks) -> Element:
    if element.name in NUMBER_TEXTS and element.text:
        number = with_country(element, element.text, region, remarks)
        element = _with_text(element, number)
    if caller_id := element.attributes.get("callerId"):
        number = with_country(element, caller_id, region, remarks)
        element = replace(element, attributes={**element.attributes, "callerId": number})
    return element


def _with_text(element: Element, text: str) -> Element:
    return replace(element, content=(text, *element.children))


def record(element: Element, follows: Action, remarks: Remarks) -> Action:
    known = {"action", "maxLength", "timeout", "finishOnKey", "playBeep"}
    implied = {"transcribe": "false", "trim": "do-not-trim"}
    attributes.check_known(element, known, remarks, implied)
    data: dict[str, Any] = {
        "maxLength": attributes.number(element, "maxLength", 3_600, (1, 3_600), remarks),
        "silence": attributes.number(element, "timeout", 5, (0, 60), remarks),
        "terminator": attributes.terminator(element, ANY_KEY, remarks),
    }
    if not attributes.flag(element, "playBeep", remarks, default=True):
        data["beep"] = False
    url = attributes.address(element, "action", remarks)
    if not element.attributes.get("action"):
        remarks.lose(element, f"has no action, which gets the recording: {OWN_ADDRESS}")
    return verb("record", data, url or follows)


def hangup(element: Element, _follows: Action, remarks: Remarks) -> Action:
    attributes.check_known(element, set(), remarks)
    return verb("hangup", {})


def reject(element: Element, _follows: Action, remarks: Remarks) -> Action:
    attributes.check_known(element, {"reason"}, remarks)
    remarks.note(element, 'needs "answer": false on the route of the number, else it hangs up')
    reason = element.attributes.get("reason", "rejected")
    if reason not in {"rejected", "busy"}:
        remarks.lose(element, f"reason: rejected or busy is expected, not {reason!r}")
        reason = "rejected"
    return verb("hangup", {"reason": reason})


def redirect(element: Element, _follows: Action, remarks: Remarks) -> Action:
    attributes.check_known(element, set(), remarks)
    url = checked_address(element, "the address", element.text, remarks)
    return verb("redirect", {"url": url}) if url else verb("hangup", {})


VERBS: Mapping[str, Converter] = {
    **PROMPTS,
    "Gather": gather,
    "Record": record,
    "Dial": dial,
    "Connect": connect,
    "Start": start,
    "Stop": stop,
    "Hangup": hangup,
    "Reject": reject,
    "Redirect": redirect,
}


def is_last(element: Element) -> bool:
    """Return whether what follows an element is no part of the tree."""
    match element.name:
        case "Dial" | "Record" | "Connect":
            return bool(element.attributes.get("action", "").strip())
        case "Gather":
            return requests_without_input(element)
        case name:
            return name in LAST


def may_go_on(element: Element) -> bool:
    """Return whether Twilio in some cases runs what follows an element that `is_last`."""
    return element.name == "Record"


def convert_verb(element: Element, follows: Action, remarks: Remarks) -> Action:
    """Convert one element; one without a counterpart is skipped, with a remark."""
    converter = VERBS.get(element.name)
    if converter is None:
        hint = alternative(element.name)
        remarks.lose(element, f"has no counterpart and is left out{hint}")
        return follows
    check_content(element, remarks)
    return converter(element, follows, remarks)
