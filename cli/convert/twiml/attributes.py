"""Attributes and content of TwiML elements as values; what is not understood is remarked."""

import re
from collections.abc import Mapping

from cli.convert.addresses import checked_address
from cli.convert.result import Remarks
from cli.convert.twiml.document import Element

_CALLBACKS = "a target of the account gets all: `switchroom callback set` (docs/callbacks.md)"
_RECORDED = f"the event `recorded`: {_CALLBACKS}"
_TRANSCRIPTS = "the account's recordings may have transcripts (docs/recordings.md)"
_HINTS = {
    "statusCallback": _CALLBACKS,
    "statusCallbackEvent": _CALLBACKS,
    "statusCallbackMethod": _CALLBACKS,
    "recordingStatusCallback": _RECORDED,
    "recordingStatusCallbackEvent": _RECORDED,
    "recordingStatusCallbackMethod": _RECORDED,
    "transcribe": _TRANSCRIPTS,
    "transcribeCallback": _TRANSCRIPTS,
    "trim": "silence stays in the recording",
    "bargeIn": "a key always ends the prompt",
    "sequential": "nest dials: `action` of one is the next",
}
_WITH_TEXT = {"Say", "Play", "Redirect", "Dial"}
_WITH_CHILDREN = {"Say", "Gather", "Dial", "Connect", "Start", "Stop", "Stream"}
_AGENTS = "ring a group of agents with a list in `number` of dial"
_MESSAGES = "templates of a messaging platform (docs/messaging.md)"
_BOTS = "a stream connects the caller with a bot of your own (docs/streams/protocols.md)"
_FORKS = "<Start><Stream> forks the audio to a program of your own"
ALTERNATIVES: Mapping[str, str] = {
    "Enqueue": _AGENTS,
    "Leave": _AGENTS,
    "Queue": _AGENTS,
    "Conference": "conference/add-members on a live call makes it a conference (docs/sessions.md)",
    "Refer": "a transfer moves a party of a live call (docs/sessions.md)",
    "Message": _MESSAGES,
    "Sms": _MESSAGES,
    "Pay": "a gather with `sensitive` keeps digits secret (docs/reference/verbs/digits.md)",
    "Prompt": "a gather has its own prompt",
    "Stream": "it belongs into <Connect> or <Start>",
    "VirtualAgent": _BOTS,
    "ConversationRelay": _BOTS,
    "Siprec": _FORKS,
    "Transcription": f"{_FORKS}; recordings may have transcripts (docs/recordings.md)",
    "Recording": '"recordCall": true on the call or the route of the number',
    "Application": "the address of a webhook as `action`, or a stored flow (docs/flows.md)",
}


def check_known(
    element: Element, known: set[str], remarks: Remarks, implied: Mapping[str, str] | None = None
) -> None:
    """Remark attributes that are not converted; `implied` are values that need no conversion."""
    for name in sorted(element.attributes.keys() - known):
        value = element.attributes[name].strip()
        if value.lower() == (implied or {}).get(name):
            continue
        if name == "method":
            if value.upper() != "POST":
                remarks.note(element, f"method {value}: webhooks are always POST, with JSON")
            continue
        hint = f": {_HINTS[name]}" if name in _HINTS else ""
        remarks.lose(element, f"{name} is not converted{hint}")


def number(
    element: Element, name: str, default: int, limits: tuple[int, int], remarks: Remarks
) -> int:
    """Return a whole number within limits; one beyond them becomes the limit."""
    text = element.attributes.get(name)
    if text is None:
        return default
    if not re.fullmatch(r"[0-9]{1,9}", text.strip()):
        remarks.lose(element, f"{name}: a number is expected, not {text!r}; {default} is used")
        return default
    value, (least, most) = int(text), limits
    used = min(max(value, least), most)
    if used != value:
        remarks.note(element, f"{name} {value} becomes {used}: allowed are {least} to {most}")
    return used


def repeats(element: Element, most: int, remarks: Remarks) -> int:
    """Return how often something is played; TwiML's 0, for ever, becomes the most."""
    loop = number(element, "loop", 1, (0, most), remarks)
    if loop == 0:
        remarks.note(element, f"loop 0, for ever, becomes {most}")
        return most
    return loop


def flag(element: Element, name: str, remarks: Remarks, *, default: bool) -> bool:
    """Return whether an attribute is true."""
    text = element.attributes.get(name, "").strip().lower()
    if text not in {"", "true", "false"}:
        remarks.lose(element, f"{name}: true or false is expected, not {text!r}")
        return default
    return text == "true" if text else default


def address(element: Element, name: str, remarks: Remarks) -> str | None:
    """Return an absolute address; None with a remark for another one, and without the attribute."""
    text = element.attributes.get(name, "").strip()
    return checked_address(element, name, text, remarks) if text else None


def terminator(element: Element, default: str, remarks: Remarks) -> str:
    """Return the one key that ends input; a document may name several."""
    keys = element.attributes.get("finishOnKey", default).strip()
    if len(keys) <= 1:
        return keys
    key = "#" if "#" in keys else keys[0]
    remarks.note(element, f"finishOnKey: only {key!r} ends it, not each of {keys!r}")
    return key


def check_content(element: Element, remarks: Remarks) -> None:
    """Remark texts and elements where TwiML has none."""
    if element.text and element.name not in _WITH_TEXT:
        remarks.lose(element, f"has a text, which is left out: {element.text}")
    if element.name not in _WITH_CHILDREN:
        for each in element.children:
            remarks.lose(each, f"in <{element.name}> is left out")


def alternative(name: str) -> str:
    """Return what to use instead of an element, after a colon; empty if nothing is known."""
    return f": {ALTERNATIVES[name]}" if name in ALTERNATIVES else ""
