"""Sanitizes SSML: keeps only elements that shape speech, and returns well-formed text."""

from xml.etree import ElementTree as ET

from engine.media.clip import MediaError
from wire.media import SSML_ELEMENTS


def sanitize(text: str) -> str:
    """Rebuild SSML, with or without <speak>, from allowed elements; raises MediaError."""
    if "<!" in text or "<?" in text:  # no entities, so no entity expansion attacks
        raise MediaError("speech_failed", "SSML with a declaration, comment or instruction")
    whole = text if text.lstrip().startswith("<speak") else f"<speak>{text}</speak>"
    try:
        root = ET.fromstring(whole)  # noqa: S314 - no declarations, and a verb's text is small
        return ET.tostring(_copy(root, root.tail), encoding="unicode")
    except RecursionError:
        raise MediaError("speech_failed", "SSML that is nested too deeply") from None
    except ET.ParseError as error:
        raise MediaError("speech_failed", f"SSML that is not well-formed: {error}") from None


def _copy(element: ET.Element, tail: str | None) -> ET.Element:
    """Copy an element; an unknown one, such as <audio>, becomes a plain sentence."""
    name = element.tag.rpartition("}")[2]  # without its XML namespace
    attributes = SSML_ELEMENTS.get(name)
    kept = {key: value for key, value in element.items() if key in (attributes or ())}
    copy = ET.Element(name if attributes is not None else "s", kept)
    copy.text, copy.tail = element.text, tail
    # A list: `extend` turns an error of a generator, such as too deep a recursion, into TypeError.
    copy.extend([_copy(child, child.tail) for child in element])
    return copy
