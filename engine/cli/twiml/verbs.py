"""One function for each TwiML verb: the element and what follows it become a verb of a tree.

What follows is an action: a verb, an address, or None at the end of the document.
"""

from collections.abc import Callable, Mapping
from typing import Any

from engine.cli.twiml import attributes
from engine.cli.twiml.dial import dial
from engine.cli.twiml.document import Element
from engine.cli.twiml.remarks import Remarks

Action = dict[str, Any] | str | None
Converter = Callable[[Element, Action, Remarks], Action]
MAX_REPEATS = 10
FOREVER = 100  # the most that a play repeats
ANY_KEY = "1234567890*#"


def verb(kind: str, data: Mapping[str, Any], follows: Action = None) -> dict[str, Any]:
    """Return a verb, without an empty action."""
    return {"type": kind, "data": dict(data)} | ({"action": follows} if follows else {})


def say(element: Element, follows: Action, remarks: Remarks) -> Action:
    attributes.check_known(element, {"voice", "language", "loop"}, remarks)
    spoken = spoken_text(element, remarks)
    if not spoken:
        return follows
    loops = attributes.number(element, "loop", 1, (1, MAX_REPEATS), remarks)
    for _ in range(loops):
        follows = verb("say", spoken, follows)
    return follows


def play(element: Element, follows: Action, remarks: Remarks) -> Action:
    attributes.check_known(element, {"loop"}, remarks)
    url = attributes.checked_address(element, "the audio", element.text, remarks)
    if url is None:
        return follows
    loop = attributes.number(element, "loop", 1, (0, FOREVER), remarks)
    if loop == 0:
        remarks.note(element, f"loop 0, for ever, becomes {FOREVER}")
        loop = FOREVER
    return verb("play", {"audioUrl": url} | ({"loop": loop} if loop > 1 else {}), follows)


def pause(element: Element, follows: Action, remarks: Remarks) -> Action:
    attributes.check_known(element, {"length"}, remarks)
    length = attributes.number(element, "length", 1, (0, 86_400), remarks)
    return verb("pause", {"length": length}, follows) if length else follows


def gather(element: Element, follows: Action, remarks: Remarks) -> Action:
    """Without digits a document goes on; a gather does so by its `fallback`."""
    known = {"numDigits", "timeout", "finishOnKey", "action", "input", "actionOnEmptyResult"}
    attributes.check_known(element, known, remarks)
    if element.attributes.get("input", "dtmf") != "dtmf":
        remarks.lose(element, "input: speech is not recognised, only digits are collected")
    wait_ms = attributes.number(element, "timeout", 5, (0, 600), remarks) * 1_000
    data: dict[str, Any] = {"timeout": wait_ms, "digitTimeout": wait_ms}
    if "numDigits" in element.attributes:
        data["maxDigits"] = attributes.number(element, "numDigits", 64, (1, 64), remarks)
    if (key := attributes.terminator(element, "#", remarks)) != "#":
        data["terminator"] = key
    *before, last = element.children or (None,)
    data |= _prompt(last, remarks)
    if element.attributes.get("actionOnEmptyResult") != "true":
        data["fallback"] = follows if isinstance(follows, dict) else verb("hangup", {})
        if isinstance(follows, str):
            remarks.lose(element, f"without digits the call should go to {follows}: it hangs up")
    url = attributes.address(element, "action", remarks)
    if url is None and not element.attributes.get("action"):
        remarks.lose(element, "has no action: give the address that gets the digits")
    result: Action = verb("gather", data, url)
    if before:
        remarks.note(element, "only its last prompt stops at a key; keys before it are kept")
    for each in reversed(before):
        if each is not None:
            result = convert_verb(each, result, remarks)
    return result


def _prompt(element: Element | None, remarks: Remarks) -> dict[str, Any]:
    """Return the prompt of a gather."""
    match element:
        case None:
            return {}
        case Element(name="Say"):
            attributes.check_known(element, {"voice", "language"}, remarks)
            return spoken_text(element, remarks)
        case Element(name="Play"):
            attributes.check_known(element, set(), remarks)
            url = attributes.checked_address(element, "the audio", element.text, remarks)
            return {"audioUrl": url} if url else {}
        case _:
            remarks.lose(element, "cannot be the last prompt of a gather")
            return {}


def spoken_text(element: Element, remarks: Remarks) -> dict[str, Any]:
    """Return text and language; nothing, with a remark, if there is no text."""
    for child in element.children:
        remarks.lose(child, "in a text is not converted: see `ssml` of the verb say")
    if not element.text:
        remarks.lose(element, "has no text")
        return {}
    return {"text": element.text, **attributes.language(element, remarks)}


def record(element: Element, follows: Action, remarks: Remarks) -> Action:
    known = {"action", "maxLength", "timeout", "finishOnKey", "playBeep"}
    attributes.check_known(element, known, remarks)
    data: dict[str, Any] = {
        "maxLength": attributes.number(element, "maxLength", 3_600, (1, 3_600), remarks),
        "silence": attributes.number(element, "timeout", 5, (0, 60), remarks),
        "terminator": attributes.terminator(element, ANY_KEY, remarks),
    }
    if element.attributes.get("playBeep") == "false":
        data["beep"] = False
    url = attributes.address(element, "action", remarks)
    if url is None and not element.attributes.get("action"):
        remarks.note(element, "has no action: no program learns the address of the recording")
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
    url = attributes.checked_address(element, "the address", element.text, remarks)
    return url or verb("hangup", {})


VERBS: Mapping[str, Converter] = {
    "Say": say,
    "Play": play,
    "Pause": pause,
    "Gather": gather,
    "Record": record,
    "Dial": dial,
    "Hangup": hangup,
    "Reject": reject,
    "Redirect": redirect,
}
LAST = {"Hangup", "Reject", "Redirect"}  # nothing after them runs


def convert_verb(element: Element, follows: Action, remarks: Remarks) -> Action:
    """Convert one element; one without a counterpart is skipped, with a remark."""
    converter = VERBS.get(element.name)
    if converter is None:
        remarks.lose(element, "has no counterpart and is left out")
        return follows
    return converter(element, follows, remarks)
