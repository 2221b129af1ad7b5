"""The digits of a phone number as people, spreadsheets and links write it."""

import re
import unicodedata
from itertools import pairwise

MAX_CHARS = 64
_SEPARATORS = str.maketrans("", "", " \t\u00a0\u2009\u202f-()")
# Letters that are seen as nothing, although Unicode has them as letters or marks.
_INVISIBLE = re.compile("[\ufe00-\ufe0f\u034f\u115f\u1160\u3164\uffa0]")
# Of Unicode, dashes, a minus sign, a swung dash, and the long vowel that Japan writes as a dash.
_WRITTEN = re.compile(
    "['\"]?[0-9+\\s().\\-/\\\\~\\[\\]\u00b7\u2010-\u2015\u2212\u2053\u30fc]+['\"]?"
)
_ROUNDED = re.compile(r"[0-9][.,][0-9]+[eE]\+?[0-9]+")
_WHOLE = re.compile(r"(\+?[0-9]+)[.,](0+)")  # a number that a spreadsheet keeps as a fraction
_SCHEME = re.compile(r"(?:tel|callto):(?://)?\s*", re.IGNORECASE)
_LINK = re.compile(rf"^{_SCHEME.pattern}|;\s*[a-z\-]+=", re.IGNORECASE)
_EXTENSION = re.compile(r"(?:\s|[0-9])(?:x|ext\.?|extension)[\s:.]*[0-9]+$", re.IGNORECASE)
_CONTEXT = re.compile(r"\+[0-9]+")
_TRUNK_PREFIX = re.compile(r"\(\s*0\s*\)")
_LISTED = re.compile(r"[0-9]\D*[,;|\n]+\D*[0-9]")
_SLASHES = re.compile(r"\s*[/\\]+\s*")
_LATE_PLUS = re.compile(r"[0-9][^0-9+]*\+")
MAX_GROUP = 4  # digits of "06/12/34/56/78"
MAX_AREA = 6  # digits of an area code before a slash, with its 0
MAX_CODE = 3
MIN_LINE = 4  # digits after the slash
MIN_NUMBER = 6


class InvalidNumber(ValueError):
    """The text is not a phone number; the message says why."""


def plain(text: str) -> str:
    """Remove what separates the digits of a number."""
    return text.translate(_SEPARATORS)


def is_plain(number: str) -> bool:
    """Return whether a text is digits only, perhaps after a plus sign."""
    return number.isascii() and number.removeprefix("+").isdigit()


def written_forms(text: str) -> tuple[str, ...]:
    """Return what a text may mean, as digits with or without a plus sign, the likeliest first.

    Raises InvalidNumber.
    """
    if len(text) > MAX_CHARS:
        raise InvalidNumber("not a phone number")
    visible = _visible(text)
    number = _of_link(visible) if _LINK.search(visible) else visible
    if whole := _WHOLE.fullmatch(number):
        # "22.00" has two readings, "9876543210.0" has one.
        joined = (whole[1] + whole[2],) if len(whole[2]) > 1 else ()
        return (whole[1], *joined)
    _check(number)
    given = _digits(number)
    if given.startswith(("+", "00")):  # +44 (0)20 7946 0000, but +39 (0)6 1234 5678
        return tuple(dict.fromkeys((_digits(_TRUNK_PREFIX.sub("", number)), given)))
    return (given,)


def _visible(text: str) -> str:
    if text.isascii():
        return text.strip()
    bare = _INVISIBLE.sub("", text)
    shown = "".join(each for each in bare if unicodedata.category(each) != "Cf")
    if any(unicodedata.category(each) == "No" for each in shown):
        raise InvalidNumber("not a phone number")  # the ² of a footnote is not a digit of it
    decimal = (str(unicodedata.decimal(each, each)) for each in shown)
    return unicodedata.normalize("NFKC", "".join(decimal)).strip()


def _of_link(link: str) -> str:
    """Return the number of a tel: link (RFC 3966)."""
    number, *parameters = _SCHEME.sub("", link, 1).split(";")
    values = {
        name.lower(): value for name, _, value in (each.partition("=") for each in parameters)
    }
    if "ext" in values or "isub" in values:
        raise InvalidNumber("a number with an extension can't be called")
    context = values.get("phone-context", "")
    is_local = not number.startswith("+") and _CONTEXT.fullmatch(context)
    return context + number if is_local else number


def _check(number: str) -> None:
    if _ROUNDED.fullmatch(number):
        raise InvalidNumber("a spreadsheet has rounded this number")
    if _EXTENSION.search(number) or re.search(r"[0-9]\s*#\s*[0-9]+$", number):
        raise InvalidNumber("a number with an extension can't be called")
    if _is_several(number):
        raise InvalidNumber("more than one number")
    if not _WRITTEN.fullmatch(number) or not re.search("[0-9]", number):
        raise InvalidNumber("not a phone number")


def _is_several(number: str) -> bool:
    if _LISTED.search(number) or _LATE_PLUS.search(number):
        return True
    parts = [re.sub(r"\D", "", part) for part in _SLASHES.split(number)]
    if len(parts) > 1:
        return not _is_joined(parts, number)
    groups = [re.sub(r"\D", "", group) for group in number.split()]
    return any(
        len(first) >= MIN_NUMBER and len(second) >= MIN_NUMBER and second.startswith("0")
        for first, second in pairwise(groups)
    )


def _is_joined(parts: list[str], number: str) -> bool:
    """Return whether slashes separate the groups of one number, or its area code."""
    area, rest, *others = parts
    if others:
        return all(len(part) <= MAX_GROUP for part in parts)
    max_area = MAX_AREA + (MAX_CODE if number.startswith(("+", "00")) else 0)
    return len(area) <= max_area and len(rest) >= MIN_LINE and not rest.startswith("0")


def _digits(number: str) -> str:
    sign = "+" if number.lstrip(" '\"([").startswith("+") else ""
    return sign + re.sub(r"\D", "", number)
