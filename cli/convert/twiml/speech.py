"""Texts of TwiML: plain or with SSML, their language and voice."""

import re
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from cli.convert.recognition import checked_language
from cli.convert.remarks import Remarks
from cli.convert.twiml.document import Element
from wire.media import SSML_ELEMENTS

_GOOGLE = re.compile(r"Google\.([a-z]{2,3}-[A-Z]{2})-")  # the language is part of the name
_POLLY = re.compile(r"Polly\.([A-Za-z]+)")
# The voices of Amazon Polly that speak English, the language of a text without one.
_ENGLISH = frozenset(
    {"Aditi", "Amy", "Aria", "Arthur", "Ayanda", "Brian", "Danielle", "Emma", "Geraint", "Gregory",
     "Ivy", "Jasmine", "Joanna", "Joey", "Justin", "Kajal", "Kendra", "Kevin", "Kimberly",
     "Matthew", "Niamh", "Nicole", "Olivia", "Raveena", "Russell", "Ruth", "Salli", "Stephen"}
)  # fmt: skip


def spoken_text(element: Element, remarks: Remarks) -> dict[str, Any]:
    """Return text, language and whether it is SSML; nothing, with a remark, without a text."""
    if not element.content or not (element.text or element.children):
        remarks.lose(element, "has no text")
        return {}
    if not element.children:
        return {"text": element.text, **_language(element, remarks)}
    text = " ".join(_markup(element, remarks).split())
    return {"text": text, "ssml": True, **_language(element, remarks)}


def _markup(element: Element, remarks: Remarks) -> str:
    """Return what is in an element as SSML, without what no speech provider understands."""
    return "".join(
        escape(each) if isinstance(each, str) else _marked(each, remarks)
        for each in element.content
    )


def _marked(element: Element, remarks: Remarks) -> str:
    inner = _markup(element, remarks)
    known = SSML_ELEMENTS.get(element.name)
    if known is None:
        remarks.lose(element, "in a text is not converted, only what is in it is spoken")
        return inner
    for name in sorted(element.attributes.keys() - known):
        remarks.lose(element, f"{name} is not converted")
    kept = "".join(
        f" {name}={quoteattr(value)}" for name, value in element.attributes.items() if name in known
    )
    return f"<{element.name}{kept}>{inner}</{element.name}>"


def _language(element: Element, remarks: Remarks) -> dict[str, str]:
    """Return the field `language`, also that of a voice; the names of voices are others."""
    voice = element.attributes.get("voice", "").strip()
    text = element.attributes.get("language", "").strip()
    if voice:
        remarks.note(element, f"voice {voice} becomes the voice of the language")
    if voice and not text:
        text = _language_of(element, voice, remarks)
    language = checked_language(element, text, remarks)
    return {"language": language} if language else {}


def _language_of(element: Element, voice: str, remarks: Remarks) -> str:
    if found := _GOOGLE.match(voice):
        return found[1]
    found = _POLLY.match(voice)
    if found and found[1] not in _ENGLISH:
        remarks.lose(element, f"the language of voice {voice} is not converted: add `language`")
    return ""
