"""TwiML's texts, audio and pauses, as verbs or as the prompt of a gather."""

import re
from collections.abc import Callable, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from cli.convert.addresses import checked_address
from cli.convert.recognition import checked_language
from cli.convert.result import FOREVER, MAX_REPEATS, Action, Remarks, verb
from cli.convert.twiml import attributes
from cli.convert.twiml.attributes import check_content
from cli.convert.twiml.document import Element
from wire.media import SSML_ELEMENTS

Converter = Callable[[Element, Action, Remarks], Action]
SAID = {"voice", "language", "loop"}
_GOOGLE = re.compile(r"Google\.([a-z]{2,3}-[A-Z]{2})-")  # the language is part of the name
_POLLY = re.compile(r"Polly\.([A-Za-z]+)")
# The voices of Amazon Polly that speak English, the language of a text without one.
_ENGLISH = frozenset(
    {"Aditi", "Amy", "Aria", "Arthur", "Ayanda", "Brian", "Danielle", "Emma", "Geraint", "Gregory",
     "Ivy", "Jasmine", "Joanna", "Joey", "Justin", "Kajal", "Kendra", "Kevin", "Kimberly",
     "Matthew", "Niamh", "Nicole", "Olivia", "Raveena", "Russell", "Ruth", "Salli", "Stephen"}
)  # fmt: skip


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


def pause(element: Element, follows: Action, remarks: Remarks) -> Action:
    attributes.check_known(element, {"length"}, remarks)
    length = attributes.number(element, "length", 1, (0, 86_400), remarks)
    return verb("pause", {"length": length}, follows) if length else follows


PROMPTS: Mapping[str, Converter] = {"Say": say, "Play": play, "Pause": pause}


def convert_prompt(element: Element, follows: Action, remarks: Remarks) -> Action:
    """Convert an element of PROMPTS to a verb."""
    check_content(element, remarks)
    return PROMPTS[element.name](element, follows, remarks)


def own_prompt(element: Element, remarks: Remarks) -> dict[str, Any]:
    """Return the fields of a gather for its prompt, a text or audio; its text may be SSML."""
    check_content(element, remarks)
    if element.name == "Say":
        attributes.check_known(element, SAID, remarks)
        return spoken_text(element, remarks)
    url = _audio(element, remarks)
    return {"audioUrl": url} if url else {}


def _audio(element: Element, remarks: Remarks) -> str | None:
    attributes.check_known(element, {"loop", "digits"}, remarks)
    if "digits" in element.attributes:
        remarks.lose(element, "digits are not converted: keys cannot be sent to a party")
        if not element.text:
            return None
    return checked_address(element, "the audio", element.text, remarks)


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
