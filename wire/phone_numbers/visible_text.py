"""Texts as people see them: decoded, with digits and separators in ASCII."""

import re
import unicodedata
from collections.abc import Iterator
from html import unescape
from urllib.parse import unquote

_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_NOT_DIGITS = bytes({*range(256)} - {*b"0123456789"})
_DASHES = "\u00b7\u2053\u2212\u30fc\uff70"  # of the reader, besides those of Unicode's category
_INVISIBLE = "\u115f\u1160\u3164\uffa0"  # letters for Unicode
_INVISIBLE_CATEGORIES = ("Cf", "Mn", "Me")
_JSON_ESCAPE = re.compile(r"(?:\\u[0-9A-Fa-f]{4})+|\\[nrt]")


def digits_in(text: str) -> bytes:
    """Return all digits of a text, in ASCII."""
    if not text.isascii() and _OTHER_DIGIT.search(text):
        text = visible(text)
    return text.encode(errors="replace").translate(None, _NOT_DIGITS)


def decoded(text: str) -> Iterator[str]:
    """Yield a text, and what it says if it is part of an address, of HTML or of JSON."""
    yield text
    if "%" in text:
        yield unquote(text)
    if "&" in text:
        yield unescape(text)
    if "\\" in text:
        yield _JSON_ESCAPE.sub(lambda found: _unescaped(found[0]), text)


def _unescaped(escapes: str) -> str:
    if not escapes.startswith("\\u"):
        return " "
    return bytes.fromhex(escapes.replace("\\u", "")).decode("utf-16-be", "replace")


def visible(text: str) -> str:
    """Return a text as it is seen, with digits and separators in ASCII."""
    if text.isascii():
        return text
    return text.translate({ord(each): _shown(each) for each in {*text} if not each.isascii()})


def _shown(char: str) -> str:
    category = unicodedata.category(char)
    if category in _INVISIBLE_CATEGORIES or char in _INVISIBLE:
        return ""
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    if char.isspace():
        return " "
    if category == "Pd" or char in _DASHES:
        return "-"
    if category == "No":  # the ² of a footnote is not a digit
        return char
    return unicodedata.normalize("NFKC", char)
