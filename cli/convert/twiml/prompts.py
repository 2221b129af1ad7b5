"""TwiML's texts, audio and pauses, as verbs or as the prompt of a gather."""

from collections.abc import Callable, Mapping
from typing import Any

from cli.convert.actions import FOREVER, MAX_REPEATS, Action, verb
from cli.convert.addresses import checked_address
from cli.convert.remarks import Remarks
from cli.convert.twiml import attributes
from cli.convert.twiml.content import check_content
from cli.convert.twiml.document import Element
from cli.convert.twiml.speech import spoken_text

Converter = Callable[[Element, Action, Remarks], Action]
SAID = {"voice", "language", "loop"}


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
