"""Erasure of a person's data: what is looked for, and what an engine has removed."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from wire.base import Name, Shape
from wire.decoding import patterns

_SEPARATORS = re.compile(r"(?<=[0-9)])[ .\-()\u00a0]+(?=[0-9(])")
_INTERNATIONAL_PREFIXES = r"\+|00|011"
NEEDLE_DIGITS = 2  # groups of digits that people write have two or more


class EraseNumber(Shape, frozen=True):
    """Remove some of what the store has of a number in one shard, without a shard the first.

    `cursor` continues where the previous request has ended. `country` is the number's calling code,
    such as 47. With `isNational`, the account is in that country: the number without the code is
    the same number there.
    """

    account: Name
    number: Annotated[str, Meta(pattern=patterns.FULL_NUMBER)]
    country: Annotated[str, Meta(pattern=patterns.CALLING_CODE)]
    is_national: bool = False
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


class NumberMatcher(Struct, frozen=True, dict=True):
    """Finds a number in texts, in all forms in which it is written.

    `number` is in E.164 form and begins with +`country`.
    """

    number: str
    country: str
    is_national: bool = False

    @property
    def needle(self) -> bytes:
        """Return digits that each form ends with, to exclude most texts at once."""
        return self.number[-NEEDLE_DIGITS:].encode()

    def is_in(self, text: str) -> bool:
        """Return whether a text contains the number."""
        if self._pattern.search(text):
            return True
        joined = _SEPARATORS.sub("", text)
        return joined != text and self._pattern.search(joined) is not None

    def is_in_json(self, body: bytes) -> bool:
        """Return whether a text in a JSON document contains it; what is no JSON is one text."""
        if self.needle not in body:
            return False
        try:
            document = msgspec.json.decode(body)
        except msgspec.DecodeError:
            return self.is_in(body.decode(errors="replace"))
        return any(map(self.is_in, _texts(document)))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        national = self.number.removeprefix(f"+{self.country}")
        with_code = rf"(?:{_INTERNATIONAL_PREFIXES})?{self.country}0?"
        prefixes = rf"(?:{with_code}|0?)" if self.is_national else with_code
        return re.compile(rf"(?<![0-9]){prefixes}{national}(?![0-9])")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        yield from value
        for each in value.values():
            yield from _texts(each)
