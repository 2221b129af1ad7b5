"""Attributes of TwiML elements as values; what is not understood is remarked."""

import re

from engine.cli.twiml.document import Element
from engine.cli.twiml.remarks import Remarks
from wire.decoding import patterns

CALLBACKS = "of the account: `switchroom callback set` (docs/callbacks.md)"
METHOD = "webhooks are always POST, with JSON"
IGNORED = {
    "method": METHOD,
    "statusCallback": CALLBACKS,
    "statusCallbackEvent": CALLBACKS,
    "statusCallbackMethod": CALLBACKS,
    "recordingStatusCallback": CALLBACKS,
    "recordingStatusCallbackEvent": CALLBACKS,
    "recordingStatusCallbackMethod": CALLBACKS,
}


def check_known(element: Element, known: set[str], remarks: Remarks) -> None:
    """Remark attributes that the conversion of an element ignores."""
    for name in sorted(element.attributes.keys() - known):
        if name == "method" and element.attributes[name].upper() == "POST":
            continue
        remarks.note(element, f"{name} is not converted{_hint(name)}")


def _hint(name: str) -> str:
    return f": {IGNORED[name]}" if name in IGNORED else ""


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


def address(element: Element, name: str, remarks: Remarks) -> str | None:
    """Return an absolute address; None with a remark for another one, and without the attribute."""
    text = element.attributes.get(name, "").strip()
    return checked_address(element, name, text, remarks) if text else None


def checked_address(element: Element, what: str, text: str, remarks: Remarks) -> str | None:
    if not re.search(patterns.URL, text) or len(text) > 2048:  # noqa: PLR2004 - of wire.base.Url
        remarks.lose(element, f"{what}: an absolute https:// address is required, not {text!r}")
        return None
    if text.startswith("http://"):
        remarks.note(element, f"{what}: only https:// is accepted, but in development")
    return text


def terminator(element: Element, default: str, remarks: Remarks) -> str:
    """Return the one key that ends input; a document may name several."""
    keys = element.attributes.get("finishOnKey", default).strip()
    if len(keys) <= 1:
        return keys
    key = "#" if "#" in keys else keys[0]
    remarks.note(element, f"finishOnKey: only {key!r} ends it, not each of {keys!r}")
    return key


def language(element: Element, remarks: Remarks) -> dict[str, str]:
    """Return the field `language`; the names of voices are others."""
    if "voice" in element.attributes:
        remarks.note(element, "voice is not converted: the voice of the language speaks")
    text = element.attributes.get("language", "")
    if text and not re.search(patterns.LANGUAGE, text):
        remarks.lose(element, f"language: a tag such as en or hi-IN is expected, not {text!r}")
        return {}
    return {"language": text} if text else {}
