"""One function for each TwiML verb: the element and what follows it become a verb of a tree.

What follows is an action: a verb, an address, or None at the end of the document.
"""

from collections.abc import Mapping
from typing import Any

from cli.convert.actions import Action, verb
from cli.convert.addresses import checked_address
from cli.convert.remarks import Remarks
from cli.convert.twiml import attributes
from cli.convert.twiml.alternatives import alternative
from cli.convert.twiml.content import check_content
from cli.convert.twiml.dial import dial
from cli.convert.twiml.document import Element
from cli.convert.twiml.gather import OWN_ADDRESS, gather, requests_without_input
from cli.convert.twiml.prompts import PROMPTS, Converter
from cli.convert.twiml.streams import connect, start, stop

ANY_KEY = "1234567890*#"


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
LAST = {"Hangup", "Reject", "Redirect"}
WITH_OWN_ADDRESS = {"Gather", "Record"}  # without an action they request their document
ADDRESS_TEXTS = {"Play", "Redirect"}
NUMBER_TEXTS = {"Dial", "Number"}


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
