"""The digits of a phone number as people, spreadsheets and links write it."""

import re
import unicodedata
from itertools import pairwise

MAX_CHARS = 64
_SPACED = re.compile(r"\+?[0-9]+(?: [0-9]{1,5})*")  # as most are written: one number, no date
# Letters that are seen as nothing, although Unicode has them as letters or marks.
_INVISIBLE = re.compile("[\ufe00-\ufe0f\u034f\u115f\u1160\u3164\uffa0]")
# Of Unicode, dashes, a minus sign, a swung dash, and the long vowel that Japan writes as a dash.
# A sign before the digits makes a sum of them: a spreadsheet computes +45-31234567.
_WRITTEN = re.compile(
    "['\"]?\\s*[0-9+(\\[~\u2053][0-9+\\s().\\-/\\\\~\\[\\]\u00b7\u2010-\u2015\u2212\u2053\u30fc]+['\"]?"
)
_ROUNDED = re.compile(r"[0-9][.,][0-9]+[eE]\+?[0-9]+")
_WHOLE = re.compile(r"(\+?[0-9]+)[.,](0+)")  # a number that a spreadsheet keeps as a fraction
_YEAR = "(?:19|20)[0-9]{2}"
_DAY = "(?:0?[1-9]|[12][0-9]|3[01])"  # or a month
_MONTH = "(?:0?[1-9]|1[0-2])"
_DATE = re.compile(rf"{_YEAR}([-./]){_DAY}\1{_DAY}|{_DAY}([-./]){_DAY}\2{_YEAR}")
_SHORT_DATE = re.compile(
    rf"{_DAY}([-./]){_MONTH}\1[0-9]{{2}}|{_MONTH}([-./]){_DAY}\2[0-9]{{2}}"
    rf"|[0-9]{{2}}([-./]){_MONTH}\3{_DAY}"
)
_TIME = re.compile(r"(?<=[0-9])[\sT]+[0-9]{1,2}(?:[.:][0-9]{2}){1,2}")
_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = re.compile(rf"{_OCTET}(?:\.{_OCTET}){{3}}(?:/[0-9]{{1,2}})?")
_PAIRS = re.compile(r"[0-9]+\.[0-9]+\.[0-9]{2}\.[0-9]{2}")  # as many countries end a number
A_DATE, AN_ADDRESS = "a date", "an IP address"
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


class TwoReadings(InvalidNumber):
    """The digits may be either of two numbers."""


def is_plain(number: str) -> bool:
    """Return whether a text is digits only, perhaps after a plus sign."""
    return number.isascii() and number.removeprefix("+").isdigit()


def is_date(text: str) -> bool:
    """Return whether a text is a day of these two centuries, as people and files write it."""
    return _DATE.fullmatch(_bare(text)) is not None


def likelier_meaning(text: str) -> str:
    """Return what a text is, unless a region writes its numbers so; empty: a number at most.

    24.12.26 is a day, and a number of Greenland; 88.198.45.67 is a host, and a number of Spain.
    """
    if _SPACED.fullmatch(text):
        return ""
    bare = _bare(text)
    if _SHORT_DATE.fullmatch(bare):
        return A_DATE
    return AN_ADDRESS if _IPV4.fullmatch(bare) else ""


def _certain_meaning(text: str) -> str:
    """Return what a text is that no country writes as a number; empty: it may be one."""
    bare = _bare(text)
    day = _TIME.sub("", bare)
    is_short_date = _SHORT_DATE.fullmatch(day) is not None
    if _DATE.fullmatch(day) or (is_short_date and (day != bare or "/" in day)):
        return A_DATE
    return AN_ADDRESS if _IPV4.fullmatch(bare) and not _PAIRS.fullmatch(bare) else ""


def _bare(text: str) -> str:
    bare = re.sub("[\u2010-\u2015\u2212]", "-", text).strip(" ()[].'\"")
    return re.sub(r"\s*([-./])\s*", r"\1", bare)


def written_forms(text: str) -> tuple[str, ...]:
    """Return what a text may mean, as digits with or without a plus sign, the likeliest first.

    Raises InvalidNumber.
    """
    if len(text) > MAX_CHARS:
        raise InvalidNumber("not a phone number")
    if _SPACED.fullmatch(text):
        return (text.replace(" ", ""),)
    visible = _visible(text)
    number = _of_link(visible) if _LINK.search(visible) else visible
    if whole := _WHOLE.fullmatch(number):
        # "22.00" has two readings, "9876543210.0" has one.
        joined = (whole[1] + whole[2],) if len(whole[2]) > 1 else ()
        return (whole[1], *joined)
    _check(number)
    given = _digits(number)
    if not given.startswith(("+", "00")):
        return (given,)
    bare = _digits(_TRUNK_PREFIX.sub("", number))  # +44 (0)20 7946 0000, but +39 (0)6 1234 5678
    is_national = not bare.startswith(("+", "00"))  # (0)020 7946 0000
    return (bare,) if is_national else tuple(dict.fromkeys((bare, given)))


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
    if not re.search("[0-9]", number):
        raise InvalidNumber("not a phone number")
    if _ROUNDED.fullmatch(number):
        raise InvalidNumber("a spreadsheet has rounded this number")
    if meaning := _certain_meaning(number):
        raise InvalidNumber(meaning)
    if _EXTENSION.search(number) or re.search(r"[0-9]\s*#\s*[0-9]+$", number):
        raise InvalidNumber("a number with an extension can't be called")
    if _is_several(number):
        raise InvalidNumber("more than one number")
    is_balanced = number.count("(") == number.count(")")
    if not _WRITTEN.fullmatch(number) or not is_balanced:
        raise InvalidNumber("not a phone number")


def _is_several(number: str) -> bool:
    if _LISTED.search(number) or _LATE_PLUS.search(number):
        return True
    parts = [re.sub(r"\D", "", part) for part in _SLASHES.split(number)]
    if len(parts) > 1:
        return not _is_joined(parts, number)
    groups = [re.sub(r"\D", "", group) for group in re.split(r"[\s-]+", number)]
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
