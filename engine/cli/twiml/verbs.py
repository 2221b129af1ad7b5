"""One function for each TwiML verb: the element and what follows it become a verb of a tree.

What follows is an action: a verb, an address, or None at the end of the document.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from engine.cli.twiml import attributes
from engine.cli.twiml.alternatives import alternative
from engine.cli.twiml.dial import dial
from engine.cli.twiml.document import Element
from engine.cli.twiml.remarks import Remarks
from engine.cli.twiml.speech import spoken_text

Action = dict[str, Any] | str | None
Converter = Callable[[Element, Action, Remarks], Action]
MAX_REPEATS = 10
FOREVER = 100  # the most that a play repeats
ANY_KEY = "1234567890*#"
MAX_WAIT_S = 600
SHORTEST_PAUSE_S = 0.1
SAID = {"voice", "language", "loop"}
SPEECH_INPUT = {
    "language", "speechTimeout", "speechModel", "hints", "profanityFilter", "enhanced",
    "partialResultCallback", "partialResultCallbackMethod",
}  # fmt: skip
_OWN_ADDRESS = "Twilio requests this document, whose address is --base-url"


def verb(kind: str, data: Mapping[str, Any], follows: Action = None) -> dict[str, Any]:
    """Return a verb, without an empty action."""
    return {"type": kind, "data": dict(data)} | ({"action": follows} if follows else {})


def say(element: Element, follows: Action, remarks: Remarks) -> Action:
    attributes.check_known(element, SAID, remarks)
    spoken = spoken_text(element, remarks)
    if not spoken:
        return follows
    for _ in range(attributes.repeats(element, MAX_REPEATS, remarks)):
        follows = verb("say", spoken, follows)
    return follows


def play(element: Element, follows: Action, remarks: Remarks) -> Action:
    url = _audio(element, remarks)
    if url is None:
        return follows
    loop = attributes.repeats(element, FOREVER, remarks)
    return verb("play", {"audioUrl": url} | ({"loop": loop} if loop > 1 else {}), follows)


def _audio(element: Element, remarks: Remarks) -> str | None:
    attributes.check_known(element, {"loop", "digits"}, remarks)
    if "digits" in element.attributes:
        remarks.lose(element, "digits are not converted: keys cannot be sent to a party")
        if not element.text:
            return None
    return attributes.checked_address(element, "the audio", element.text, remarks)


def pause(element: Element, follows: Action, remarks: Remarks) -> Action:
    attributes.check_known(element, {"length"}, remarks)
    length = attributes.number(element, "length", 1, (0, 86_400), remarks)
    return verb("pause", {"length": length}, follows) if length else follows


def gather(element: Element, follows: Action, remarks: Remarks) -> Action:
    """Without digits a document goes on; a gather does so by its `fallback`."""
    known = {"numDigits", "timeout", "finishOnKey", "action", "input", "actionOnEmptyResult"}
    attributes.check_known(element, known | SPEECH_INPUT, remarks, {"bargeIn": "true"})
    for name in sorted(element.attributes.keys() & SPEECH_INPUT):
        remarks.note(element, f"{name} is left out: it belongs to speech input")
    if element.attributes.get("input", "dtmf") != "dtmf":
        remarks.lose(element, "input: speech is not recognised, only digits are collected")
    before, prompt, pause_s = _prompts(element, remarks)
    wait_s = attributes.number(element, "timeout", 5, (0, MAX_WAIT_S), remarks)
    data: dict[str, Any] = {
        "timeout": min(wait_s + pause_s, MAX_WAIT_S) * 1_000,
        "digitTimeout": wait_s * 1_000,
    }
    if "numDigits" in element.attributes:
        data["maxDigits"] = attributes.number(element, "numDigits", 64, (1, 64), remarks)
    if (key := attributes.terminator(element, "#", remarks)) != "#":
        data["terminator"] = key
    data |= prompt
    if not _requests_without_digits(element):
        data["fallback"] = _fallback(element, follows, remarks)
    url = attributes.address(element, "action", remarks)
    if not element.attributes.get("action"):
        remarks.lose(element, f"has no action, which gets the digits: {_OWN_ADDRESS}")
    result: Action = verb("gather", data, url)
    if before:
        remarks.note(element, "only its last prompt stops at a key; keys before it are kept")
    for each in reversed(before):
        result = convert_verb(each, result, remarks)
    return result


def _fallback(element: Element, follows: Action, remarks: Remarks) -> dict[str, Any]:
    """Return what follows as a verb: a fallback is none as an address."""
    if not isinstance(follows, str):
        return follows or verb("hangup", {})
    text = f"without digits goes to {follows} after a pause of {SHORTEST_PAUSE_S} s"
    remarks.note(element, text)
    return verb("pause", {"length": SHORTEST_PAUSE_S}, follows)


def _requests_without_digits(element: Element) -> bool:
    return element.attributes.get("actionOnEmptyResult", "").strip().lower() == "true"


def _prompts(element: Element, remarks: Remarks) -> tuple[list[Element], dict[str, Any], int]:
    """Return the verbs before a gather, its own prompt, and the seconds of pauses after it."""
    prompts = []
    for each in element.children:
        if each.name in PROMPTS:
            prompts.append(each)
        else:
            remarks.lose(each, "in <Gather> is left out: only texts, audio and pauses can be in it")
    pause_s = 0
    while prompts and prompts[-1].name == "Pause":
        pause_s += attributes.number(prompts.pop(), "length", 1, (0, MAX_WAIT_S), remarks)
    if not prompts:
        return [], {}, pause_s
    *before, last = prompts
    prompt = _prompt(last, remarks)
    if prompt.pop("ssml", False):
        return prompts, {}, pause_s  # a gather has no SSML
    most = MAX_REPEATS if last.name == "Say" else FOREVER
    if prompt and (loop := attributes.repeats(last, most, remarks)) > 1:
        before.append(replace(last, attributes={**last.attributes, "loop": str(loop - 1)}))
    return before, prompt, pause_s


def _prompt(element: Element, remarks: Remarks) -> dict[str, Any]:
    """Return the prompt of a gather."""
    _check_content(element, remarks)
    if element.name == "Say":
        attributes.check_known(element, SAID, remarks)
        return spoken_text(element, remarks)
    url = _audio(element, remarks)
    return {"audioUrl": url} if url else {}


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
        remarks.lose(element, f"has no action, which gets the recording: {_OWN_ADDRESS}")
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
LAST = {"Hangup", "Reject", "Redirect"}
PROMPTS = {"Say", "Play", "Pause"}
WITH_OWN_ADDRESS = {"Gather", "Record"}  # without an action they request their document
ADDRESS_TEXTS = {"Play", "Redirect"}
NUMBER_TEXTS = {"Dial", "Number"}
_WITH_TEXT = {"Say", "Play", "Redirect", "Dial"}
_WITH_CHILDREN = {"Say", "Gather", "Dial"}


def is_last(element: Element) -> bool:
    """Return whether what follows an element is no part of the tree."""
    match element.name:
        case "Dial" | "Record":
            return bool(element.attributes.get("action", "").strip())
        case "Gather":
            return _requests_without_digits(element)
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
    _check_content(element, remarks)
    return converter(element, follows, remarks)


def _check_content(element: Element, remarks: Remarks) -> None:
    """Remark texts and elements where TwiML has none."""
    if element.text and element.name not in _WITH_TEXT:
        remarks.lose(element, f"has a text, which is left out: {element.text}")
    if element.name not in _WITH_CHILDREN:
        for each in element.children:
            remarks.lose(each, f"in <{element.name}> is left out")
