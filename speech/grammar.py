"""The grammar of a stream: made of its hints, with names of its own for all words.

It is a finite-state grammar, whose transitions are words. Phrases with the same beginning share its
transitions; each has a name such as `w3`, so nothing that a customer writes is part of the grammar.
The name of its last transition leads back to the hint.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct

from speech.recognizer import RecognitionFailed
from speech.vocabulary import DIGITS, Dictionary, Saying, sayings
from wire.streams.recognizer import SpokenHint

DIGITS_HINT = "$digits"  # a sequence of digits
DEFAULT_HINTS = ("yes", "no", DIGITS_HINT)
MAX_WORDS = 20  # of a phrase
MAX_PRONUNCIATIONS = 5_000  # of the words of all phrases: a worker prepares them in 0.1 s
_MAX_NAMED = 10  # words in an error
_BEFORE = ("um", "uh")
_AFTER = ("please", "thanks", "thank you")
_PHONES = (
    *("AA", "AE", "AH", "AO", "AW", "AY", "B", "CH", "D", "DH", "EH", "ER", "EY", "F", "G", "HH"),
    *("IH", "IY", "JH", "K", "L", "M", "N", "NG", "OW", "OY", "P", "R", "S", "SH", "T", "TH"),
    *("UH", "UW", "V", "W", "Y", "Z", "ZH"),
)
_OF_DIGIT = re.compile(r"d([0-9])")
_START, _FINAL, _DIGITS = range(3)  # states; those within phrases follow


class Transition(NamedTuple):
    """A word leads from one state to another."""

    source: int
    target: int
    probability: float
    word: str


class Grammar(Struct, frozen=True):
    """What a decoder needs: states with the words between them, and how those are pronounced."""

    transitions: list[Transition]
    pronunciations: dict[str, list[str]]
    start: int = _START
    final: int = _FINAL


class HintGrammar:
    """The grammar of some hints, and the way back from its words to text."""

    def __init__(self, hints: Sequence[str | SpokenHint], dictionary: Dictionary) -> None:
        """Raise RecognitionFailed: invalid-hint, or unknown-words with some of them."""
        self._dictionary = dictionary
        self._text_of: dict[str, str] = {}  # the hint of each last transition
        self._shared: dict[tuple[int, str], tuple[str, int]] = {}  # within phrases: name, target
        self._spoken: dict[str, str] = {}  # the word of each name
        self._unknown: list[str] = []
        self._transitions: list[Transition] = []
        self._pronunciations: dict[str, list[str]] = {}
        self._pronunciation_count = 0
        self._states = _DIGITS + 1
        self.grammar = self._build(hints or DEFAULT_HINTS)

    def text_of(self, names: Iterable[str]) -> str:
        """Return the text of a result: a hint as it was written, or digits."""
        digits = ""
        for name in names:
            if (text := self._text_of.get(name)) is not None:
                return text
            if digit := _OF_DIGIT.match(name):
                digits += digit[1]
        return digits

    def partial_text_of(self, names: Sequence[str]) -> str:
        """Return the text of the beginning of an utterance: words, or digits."""
        said = [self._spoken[each] for each in names if each in self._spoken]
        return " ".join(said) or self.text_of(names)

    def _build(self, hints: Sequence[str | SpokenHint]) -> Grammar:
        chance = 1 / len(hints)
        for at, hint in enumerate(hints):
            if hint != DIGITS_HINT:
                self._add_hint(at, hint, chance)
                self._check_size()
        if DIGITS_HINT in hints:
            self._add_digits(chance)
        self._check_words()
        self._add_unreported("b", _BEFORE, _START)
        self._add_unreported("a", _AFTER, _FINAL)
        return Grammar(self._transitions, self._pronunciations)

    def _check_words(self) -> None:
        if self._unknown:
            unknown = [*dict.fromkeys(self._unknown)]
            more = ", …" if len(unknown) > _MAX_NAMED else ""
            raise RecognitionFailed(
                "unknown-words",
                f"hints: no pronunciation is known of {', '.join(unknown[:_MAX_NAMED])}{more}: give"
                ' such a hint as {"text": …, "soundsLike": …}, whose soundsLike has English words',
            )

    def _check_size(self) -> None:
        """Limit what a worker has to do: all of its other streams wait until it has done so."""
        if self._pronunciation_count > MAX_PRONUNCIATIONS:
            raise RecognitionFailed(
                "invalid-hint",
                f"hints: too many words in all, at most {MAX_PRONUNCIATIONS} are allowed; a word"
                " with several pronunciations counts once for each",
            )

    def _add_hint(self, at: int, hint: str | SpokenHint, chance: float) -> None:
        text = hint if isinstance(hint, str) else hint.text
        sound = hint if isinstance(hint, str) else hint.sounds_like
        for saying in _sayings_of(at, sound):
            self._add_phrase(saying, text, chance)

    def _add_phrase(self, words: Saying, text: str, chance: float) -> None:
        source = _START
        for word in words[:-1]:
            if (source, word) not in self._shared:
                self._shared[source, word] = self._add_within(source, word, chance)
            source, chance = self._shared[source, word][1], 1.0
        name = f"w{len(self._pronunciations)}"
        self._add_word(name, words[-1])
        self._spoken[name] = words[-1]
        self._text_of[name] = text
        self._transitions.append(Transition(source, _FINAL, chance, name))

    def _add_within(self, source: int, word: str, chance: float) -> tuple[str, int]:
        name, target = f"w{len(self._pronunciations)}", self._states
        self._states += 1
        self._add_word(name, word)
        self._spoken[name] = word
        self._transitions.append(Transition(source, target, chance, name))
        return name, target

    def _add_digits(self, chance: float) -> None:
        """Add a loop: one digit, or more.

        All transitions have words: with others, 1,000 hints take seconds to prepare.
        """
        names = {f"d{digit}": word for digit, word in enumerate(DIGITS)} | {"d0o": "oh"}
        for name, word in names.items():
            self._add_word(name, word)
            each = 1 / len(names)
            for source, first in ((_START, chance), (_DIGITS, 1.0)):
                for target in (_DIGITS, _FINAL):
                    self._transitions.append(Transition(source, target, first * each / 2, name))

    def _add_unreported(self, prefix: str, phrases: Sequence[str], state: int) -> None:
        """Add words that callers say beside a hint: they stay in the same state."""
        known = [each.split() for each in phrases if all(map(self._dictionary.find, each.split()))]
        for at, words in enumerate(known):
            source, chance = state, 1 / (len(known) + 1)
            for place, word in enumerate(words):
                is_last = place == len(words) - 1
                target = state if is_last else self._states
                self._states += not is_last
                self._add_word(f"{prefix}{at}x{place}", word)
                self._transitions.append(
                    Transition(source, target, chance, f"{prefix}{at}x{place}")
                )
                source, chance = target, 1.0

    def _add_word(self, name: str, word: str) -> None:
        found = self._dictionary.find(word)
        if not found:
            self._unknown.append(word)
        self._pronunciations[name] = [*found]
        self._pronunciation_count += max(1, len(found))


def _sayings_of(at: int, text: str) -> Sequence[Saying]:
    if text.startswith("$"):
        raise RecognitionFailed(
            "invalid-hint", f"hints[{at}]: the only class is {DIGITS_HINT}, not {text[:20]}"
        )
    ways = sayings(text)
    if not ways:
        raise RecognitionFailed("invalid-hint", f"hints[{at}]: there is no word in {text[:20]!r}")
    if len(ways[0]) > MAX_WORDS:
        raise RecognitionFailed(
            "invalid-hint", f"hints[{at}]: a phrase has at most {MAX_WORDS} words"
        )
    return ways


def phone_loop() -> Grammar:
    """Return a grammar of any sequence of phones: what else may have been said."""
    names = {f"s{at}": phone for at, phone in enumerate(_PHONES)}
    chance = 1 / len(names)
    return Grammar(
        [Transition(_START, _START, chance, name) for name in names],
        {name: [phone] for name, phone in names.items()},
        final=_START,
    )
