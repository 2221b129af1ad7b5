"""Pronunciations of words: those of a dictionary, and of words that consist of them."""

from collections.abc import Iterable, Mapping, Sequence
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
