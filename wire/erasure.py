"""Erasure of a person's data: what is looked for, and what an engine has removed.

A text contains a number if digits in it are read as that number (docs/decisions/0095).
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import accumulate
from typing import Annotated, Any, TypeGuard

import msgspec
import phonenumbers
from msgspec import Meta, Struct
from phonenumbers import PhoneNumberFormat

from wire.base import Name, Shape
from wire.decoding import patterns
from wire.events.own_texts import is_own, without_own
from wire.phone_numbers.e164 import INTERNATIONAL_PREFIX, calling_code, e164
from wire.phone_numbers.visible_text import decoded, digits_in, visible
from wire.phone_numbers.written_number import MAX_AREA, MAX_CHARS, MIN_NUMBER, InvalidNumber

# What the reader of numbers takes as separators, in ASCII. All repetitions are possessive: with a
# search from each of many separators, a text would take quadratic time.
_OF_NUMBERS = r"\s.\-()/\\~\[\]"
_SEPARATOR = f"[{_OF_NUMBERS}]"
_RUN = re.compile(rf"(?:\+{_SEPARATOR}*+)?[0-9](?:{_SEPARATOR}*+[0-9])*+")
# What separates digits in keys and in forms, where + is a blank; but also numbers in lists.
_OF_LISTS = r"_,:|;'+\u2019\u2022"
_LIST = re.compile(f"[0-9](?:[{_OF_NUMBERS}{_OF_LISTS}]*+[0-9])*+")
_LISTED = re.compile(f"[{_OF_LISTS}]")
_GROUP = re.compile(r"[0-9]+")
# A digit by itself beside longer groups: a count, a position or a version.
_LONE = re.compile(r"\A[0-9][^0-9]++(?=[0-9]{2})"), re.compile(r"(?<=[0-9]{2})[^0-9]++[0-9]\Z")
_PREFIXES = ("", "00", "011")  # of international calls, in addresses and lists of any country
CODES = phonenumbers.COUNTRY_CODE_TO_REGION_CODE
MAX_PREFIX = 8  # digits that precede a country's code: to call abroad, and of a carrier
TAIL_DIGITS = 6  # at the end of a number in each form, also without its area
MAX_READINGS = 50
MIN_INTEGER, MAX_INTEGER = 10**3, 10**24


class EraseNumber(Shape, frozen=True):
    """Remove some of what the store has of a number in one shard, without a shard the first.

    `cursor` continues where the previous request has ended. `region` is the account's country, such
    as NO: what has no country code is read as a number there.
    """

    account: Name
    number: Annotated[str, Meta(pattern=patterns.FULL_NUMBER)]
    region: Annotated[str, Meta(pattern=patterns.COUNTRY)] | None = None
    shard: Annotated[str, Meta(pattern=patterns.SHARD)] | None = None
    cursor: Annotated[str, Meta(pattern=patterns.ERASURE_CURSOR)] = ""


class ErasureResult(Shape, frozen=True):
    """How much was removed, and where the next request continues; None: nothing is left."""

    next_shard: str | None = None
    next_cursor: str = ""
    ended_calls: int = 0
    events: int = 0
    dead_letters: int = 0
    attempts: int = 0  # of the account's webhook log, with the first shard
    prompts: int = 0  # in the audio caches of all engines, with the first request
    silent_engines: int = 0  # that have not answered, so their caches are as before


class ErasePrompts(Shape, frozen=True):
    """Remove what an engine's audio cache has of a number."""

    account: Name
    number: Annotated[str, Meta(pattern=patterns.FULL_NUMBER)]
    region: Annotated[str, Meta(pattern=patterns.COUNTRY)] | None = None


class ErasedPrompts(Shape, frozen=True):
    """How many prompts an engine has removed from its audio cache."""

    prompts: int


class NumberMatcher(Struct, frozen=True, dict=True):
    """Finds a number in texts, in all forms in which it is written in a region.

    `number` is in E.164 form.
    """

    number: str
    region: str | None = None

    def is_in(self, text: str) -> bool:
        """Return whether a text contains the number, also escaped as in addresses and JSON."""
        return any(map(self._is_in_form, decoded(text)))

    def is_in_json(self, body: bytes) -> bool:
        """Return whether a JSON document contains it; what is no JSON is one text."""
        has_escapes = b"%" in body or b"\\u" in body  # they have digits of their own
        if not has_escapes and not self._may_be_in(body.decode(errors="replace")):
            return False
        return self._is_in_encoded(body, msgspec.json.decode)

    def is_in_msgpack(self, body: bytes) -> bool:
        """Return whether a msgpack document contains it; what is no msgpack is one text."""
        return self._is_in_encoded(body, msgspec.msgpack.decode)

    def _is_in_encoded(self, body: bytes, decode: Callable[[bytes], Any]) -> bool:
        try:
            texts = [*_texts(decode(body))]
        except (msgspec.DecodeError, RecursionError):
            return self.is_in(body.decode(errors="replace"))
        may_be_in = any(map(self._may_be_in, decoded("\n".join(texts))))
        return may_be_in and any(map(self.is_in, texts))

    def _may_be_in(self, text: str) -> bool:
        """Exclude most texts at once: those without the last digits of the number.

        Without zeros at their end, which a number in JSON may have as its exponent.
        """
        return self._tail.rstrip("0").encode() in digits_in(text)

    def _is_in_form(self, form: str) -> bool:
        if not self._may_be_in(form):
            return False
        text = visible(form)
        readings = _Readings(self.region)
        try:
            if len(text) <= MAX_CHARS and readings.of(text) == self.number:
                return True
            rest = without_own(text)
            return self._may_be_in(rest) and (
                any(self._is_in_run(run, readings) for run in _RUN.findall(rest))
                or any(self._is_in_list(run, readings) for run in _lists(rest))
            )
        except _TooManyReadings:
            return True  # so many texts that end as the number does may well be the number

    def _is_in_list(self, listed: str, readings: "_Readings") -> bool:
        """Return whether groups are the number on both sides of what separates lists, too."""
        parts = ("".join(_GROUP.findall(part)) for part in _LISTED.split(listed))
        cuts = [*accumulate(map(len, parts))]
        return self._is_in_run(_LISTED.sub(" ", listed), readings, cuts)

    def _is_in_run(
        self, run: str, readings: "_Readings", cuts: Sequence[int] | None = None
    ) -> bool:
        """Return whether neighbouring groups of digits are the number.

        Not as a part of another number, unless they are what follows something else (in
        "12 030 1234567" they begin with the 0 of numbers in their country) or what something else
        follows: their first group has all digits. With `cuts`, only groups on both sides of one.
        """
        sign, groups = "+" * (run[0] == "+"), _GROUP.findall(run)
        digits = "".join(groups)
        if self._tail not in digits:
            return False
        is_certain = bool(sign) or digits.startswith(INTERNATIONAL_PREFIX)
        for start, end in self._windows(digits, [0, *accumulate(map(len, groups))]):
            if cuts is not None and bisect_right(cuts, start) == bisect_left(cuts, end):
                continue
            window = digits[start:end] if start else sign + digits[:end]
            if window in readings.others:
                continue
            if not self._is_number(window, readings):
                readings.others.add(window)
                continue
            is_all = window == digits
            is_rest = end == len(digits) and window[0] == "0" and not is_certain
            is_first = start == 0 and MAX_AREA < len(groups[0]) == end
            if is_all or is_rest or is_first:
                return True
            if start and is_certain:  # the rest of a number that has a country's code
                is_other = readings.of(run) not in {None, self.number}
            elif start >= MIN_NUMBER and _is_valid(readings.of(digits[:start])):
                is_other = False  # a number is before it
            else:
                is_other = self._is_other(run, readings, goes_on=not start and end < len(digits))
            if not is_other:
                return True
        return False

    def _windows(self, digits: str, bounds: list[int]) -> Iterator[tuple[int, int]]:
        """Yield where groups begin and end that have the last digits of the number."""
        ends = {*bounds}
        for found in self._tail_pattern.finditer(digits):
            end = found.end(1)
            if end in ends:
                first = bisect_left(bounds, end - self._max_digits)
                yield from (
                    (start, end) for start in bounds[first : bisect_right(bounds, found.start())]
                )

    def _is_number(self, text: str, readings: "_Readings") -> bool:
        if text.removeprefix("+") in self._forms:
            return True
        return self.number in readings.possible(text)

    def _is_other(self, run: str, readings: "_Readings", *, goes_on: bool) -> bool:
        """Return whether a run as a whole is another valid number, or is without lone digits.

        With `goes_on`, the run begins with the number, and so must the other one.
        """
        found = readings.of(run)
        if found == self.number:
            return False
        rests = [rest for each in _LONE if (rest := each.sub("", run)) != run]
        is_written = not rests or (found is not None and _is_written(found, run))
        if is_written and _is_valid(found) and (found.startswith(self.number) or not goes_on):
            return True
        others = (self._is_other(rest, readings, goes_on=goes_on) for rest in rests)
        return bool(rests) and all(others)

    @cached_property
    def _country(self) -> str:
        codes = (self.number[1:end] for end in (2, 3, 4))
        return next((each for each in codes if int(each) in CODES), "")

    @cached_property
    def _national(self) -> str:
        return self.number.removeprefix(f"+{self._country}")

    @cached_property
    def _forms(self) -> frozenset[str]:
        """The digits that are the number whatever the rules of its country are."""
        places = [prefix + self._country for prefix in _PREFIXES]
        if self._country == calling_code(self.region):
            places.append("")
        return frozenset(place + zero + self._national for place in places for zero in ("", "0"))

    @cached_property
    def _max_digits(self) -> int:
        return len(self.number) + MAX_PREFIX

    @cached_property
    def _tail(self) -> str:
        return self.number[-min(TAIL_DIGITS, max(2, len(self._national) - 1)) :]

    @cached_property
    def _tail_pattern(self) -> re.Pattern[str]:
        return re.compile(f"(?=({self._tail}))")  # ends may overlap


class _TooManyReadings(Exception):
    """A text has more readings than are tried."""


class _Readings:
    """What parts of a text are read as, each once: a reading takes up to half a millisecond."""

    def __init__(self, region: str | None) -> None:
        self.others = set[str]()  # digits that are not the number that is looked for
        self._region = region
        self._known: dict[str, tuple[str | None, ...]] = {}

    def of(self, text: str) -> str | None:
        """Return the number that a text is; raises _TooManyReadings."""
        return self.possible(text)[0]

    def possible(self, text: str) -> tuple[str | None, ...]:
        """Return the number that a text is or None, and those that it may be."""
        found = self._known.get(text)
        if found is None:
            if len(self._known) == MAX_READINGS:
                raise _TooManyReadings
            found = self._known[text] = self._read(text)
        return found

    def _read(self, text: str) -> tuple[str | None, ...]:
        domestic = _parsed(text, self._region)
        try:
            return e164(text, self._region), domestic
        except InvalidNumber:
            return None, domestic, _parsed(f"+{text.removeprefix('+')}", None)


def _parsed(text: str, region: str | None) -> str | None:
    with suppress(phonenumbers.NumberParseException):
        parsed = phonenumbers.parse(text, region)
        return phonenumbers.format_number(parsed, PhoneNumberFormat.E164)
    return None


def _is_valid(number: str | None) -> TypeGuard[str]:
    return number is not None and phonenumbers.is_valid_number(phonenumbers.parse(number))


def _is_written(number: str, text: str) -> bool:
    """Return whether a text has the groups of digits in which a number is written."""
    parsed = phonenumbers.parse(number)
    shown = phonenumbers.format_number(parsed, PhoneNumberFormat.NATIONAL)
    return _GROUP.findall(shown) == _GROUP.findall(text)


def _lists(text: str) -> Iterator[str]:
    """Yield digits with what separates lists among them."""
    if _LISTED.search(text):
        yield from (each for each in _LIST.findall(text) if _LISTED.search(each))


def _texts(document: Any) -> Iterator[str]:
    """Yield the texts, names and whole numbers in a document, without times and counts.

    A stored call and its log are arrays: their numbers without a name are the platform's own.
    """
    pending = [(document, not isinstance(document, list))]
    while pending:
        value, is_named = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            pending += [(name, False) for name in value]
            pending += [(each, True) for name, each in value.items() if not is_own(name, each)]
        elif isinstance(value, list):
            pending += [(each, is_named) for each in value]
        elif isinstance(value, bytes):
            yield value.decode(errors="replace")
        elif is_named and isinstance(value, int | float):
            yield from _whole(value)


def _whole(number: float) -> Iterator[str]:
    """Yield a whole number, also with the 0 that no number in a document begins with."""
    if MIN_INTEGER <= abs(number) < MAX_INTEGER and number == int(number):
        yield f"{abs(int(number))}"
        yield f"0{abs(int(number))}"
