"""Splits hints into the words that somebody says: figures and signs become words."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import product

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = (
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SIGNS = {"&": " and ", "+": " plus ", "%": " percent ", "@": " at "}
_TOKEN = re.compile(r"[0-9]+|[a-z]+(?:'[a-z]+)*")
_MAX_CARDINAL_DIGITS = 3
_MAX_SAYINGS = 8  # of one hint: each number doubles them
# Letters without a decomposition into a character of English and an accent.
_CHARACTERS = {"ø": "o", "æ": "ae", "œ": "oe", "ß": "ss", "đ": "d", "ð": "d", "ł": "l", "þ": "th"}
Saying = tuple[str, ...]  # words as a dictionary has them


def sayings(text: str) -> list[Saying]:
    """Return the ways to say a text, the likeliest first; none: it has no word."""
    plain = "".join(_characters(text))
    parts = [_spoken(each) for each in _TOKEN.findall(plain)]
    if not parts:
        return []
    ways = []
    for chosen in product(*parts):
        ways.append(tuple(word for part in chosen for word in part))
        if len(ways) == _MAX_SAYINGS:
            break
    return ways


def _characters(text: str) -> Iterator[str]:
    for character in unicodedata.normalize("NFKD", text.replace("\u2019", "'")).lower():
        if not unicodedata.combining(character):
            yield _SIGNS.get(character) or _CHARACTERS.get(character, character)


def _spoken(token: str) -> Sequence[Saying]:
    if not token.isdecimal():
        return [(token,)]
    one_by_one = tuple(DIGITS[int(each)] for each in token)
    if len(token) > _MAX_CARDINAL_DIGITS or len(token) == 1 or token.startswith("0"):
        return [one_by_one]
    return [_cardinal(int(token)), one_by_one]


def _cardinal(number: int) -> Saying:
    """Return the words of a number below 1,000."""
    hundreds, rest = divmod(number, 100)
    words: Saying = (DIGITS[hundreds], "hundred") if hundreds else ()
    if rest >= 20:  # noqa: PLR2004 - the first one with a word for its ten
        tens, ones = divmod(rest, 10)
        return (*words, _TENS[tens - 2], *((DIGITS[ones],) if ones else ()))
    if rest >= 10:  # noqa: PLR2004 - the first one of two digits
        return (*words, _TEENS[rest - 10])
    return (*words, DIGITS[rest]) if rest else words
