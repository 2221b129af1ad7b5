"""Words that somebody says: how hints are split into them, and how they are pronounced."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

_MIN_PART = 3  # characters of each part of a compound
_MAX_SPELLED = 5  # characters of a word that is spelled
_VOWELS = frozenset("aeiouy")
Pronunciations = Sequence[str]  # phones, separated by spaces


class Dictionary:
    """A pronouncing dictionary: words with one or more pronunciations each."""

    def __init__(self, words: Mapping[str, Pronunciations]) -> None:
        self._words = words

    def find(self, word: str) -> Pronunciations:
        """Return the pronunciations of a word in lower case; none: it is unknown.

        A compound is two known words (`voicemail`); a short word without a vowel is spelled
        (`sms`).
        """
        return self._words.get(word) or self._split(word) or self._spelled(word)

    def _split(self, word: str) -> Pronunciations:
        """Return those of the two known words that a word consists of, with the longest first."""
        for at in range(len(word) - _MIN_PART, _MIN_PART - 1, -1):
            first, second = self._words.get(word[:at]), self._words.get(word[at:])
            if first and second:
                return [f"{first[0]} {second[0]}"]
        return []

    def _spelled(self, word: str) -> Pronunciations:
        if len(word) > _MAX_SPELLED or _VOWELS & {*word}:
            return []
        names = [
            self._words.get(f"{character}.") or self._words.get(character) for character in word
        ]
        if not all(names):
            return []
        return [" ".join(each[0] for each in names if each)]


def read_dictionary(path: Path) -> Dictionary:
    """Read a file in the format of the CMU dictionary: `word(2) W ER D`."""
    with path.open(encoding="utf-8") as lines:
        return Dictionary(parse_dictionary(lines))


def parse_dictionary(lines: Iterable[str]) -> Mapping[str, Pronunciations]:
    """Return the words of a dictionary with their pronunciations."""
    words: dict[str, list[str]] = {}
    for line in lines:
        name, _, phones = line.strip().partition(" ")
        if phones:
            words.setdefault(name.partition("(")[0], []).append(phones.strip())
    return words


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
