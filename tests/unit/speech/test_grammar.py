"""The grammar that is made of hints."""

import re
from collections import defaultdict
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from speech.grammar import MAX_PRONUNCIATIONS, Grammar, HintGrammar, phone_loop
from speech.recognizer import RecognitionFailed
from speech.vocabulary import Dictionary
from wire.streams.recognizer import SpokenHint

_ALPHABET = str.maketrans("0123456789", "abcdefghij")


def paths(grammar: Grammar, names: dict[str, str], most_words: int = 3) -> dict[str, list[str]]:
    """Return all that a grammar accepts, as words, with the names of the words."""
    leaving = defaultdict(list)
    for each in grammar.transitions:
        leaving[each.source].append(each)
    found: dict[str, list[str]] = {}
    pending: list[tuple[int, tuple[str, ...]]] = [(grammar.start, ())]
    while pending:
        state, said = pending.pop()
        if state == grammar.final and said:
            found[" ".join(names[each] for each in said)] = [*said]
        if len(said) < most_words:
            pending += [(each.target, (*said, each.word)) for each in leaving[state]]
    return found


def words_of(grammar: Grammar) -> dict[str, str]:
    """Return the word of each name: the dictionary of tests spells it."""
    return {
        name: phones[0].replace(" ", "").lower() for name, phones in grammar.pronunciations.items()
    }


def test_phrases_lead_back_to_hints(dictionary: Dictionary) -> None:
    """Also if one begins like another, and with polite words around them."""
    hints = HintGrammar(["Sales", "sales SUPPORT", "No"], dictionary)
    accepted = paths(hints.grammar, words_of(hints.grammar))
    texts = {said: hints.text_of(names) for said, names in accepted.items()}
    assert texts["sales"] == "Sales"
    assert texts["sales support"] == "sales SUPPORT"
    assert texts["um sales please"] == "Sales"
    assert texts["no thank you"] == "No"
    assert "sales no" not in texts
    assert "please" not in texts
    assert set(texts.values()) == {"Sales", "sales SUPPORT", "No"}


def test_digits_become_figures(dictionary: Dictionary) -> None:
    """One or more of them; `oh` is a zero."""
    hints = HintGrammar(["$digits"], dictionary)
    accepted = paths(hints.grammar, words_of(hints.grammar))
    assert hints.text_of(accepted["five oh one"]) == "501"
    assert hints.text_of(accepted["zero"]) == "0"
    assert hints.text_of(accepted["um two please"]) == "2"


def test_without_hints(dictionary: Dictionary) -> None:
    """There are yes, no and digits."""
    hints = HintGrammar([], dictionary)
    accepted = paths(hints.grammar, words_of(hints.grammar), 1)
    assert {"yes", "no", "seven"} <= {*accepted}


def test_a_hint_that_sounds_like_others(dictionary: Dictionary) -> None:
    """The result is its text."""
    hints = HintGrammar([SpokenHint("Øystein", "human agent")], dictionary)
    accepted = paths(hints.grammar, words_of(hints.grammar))
    assert hints.text_of(accepted["human agent"]) == "Øystein"
    assert hints.partial_text_of(accepted["human agent"][:1]) == "human"


def test_unknown_words_are_named(dictionary: Dictionary) -> None:
    """All of them at once, but no more than ten."""
    with pytest.raises(RecognitionFailed, match="of qwop, zorg: give") as error:
        HintGrammar(["yes qwop", "zorg", "qwop no"], dictionary)
    assert error.value.code == "unknown-words"
    many = [f"zorg{'o' * count}" for count in range(20)]
    with pytest.raises(RecognitionFailed, match=r"zorgooooooooo, …: give"):
        HintGrammar(many, dictionary)


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        ("<xa> | ;", "of xa"),
        (";;", r"hints\[1\]: there is no word in ';;'"),
        ("$DIGITS", r"hints\[1\]: the only class is \$digits"),
        (" ".join(["yes"] * 21), r"hints\[1\]: a phrase has at most 20 words"),
    ],
)
def test_invalid_hints(dictionary: Dictionary, hint: str, text: str) -> None:
    """The error says which one, and why."""
    with pytest.raises(RecognitionFailed, match=text):
        HintGrammar(["yes", hint], dictionary)


def test_too_many_words(dictionary: Dictionary) -> None:
    """The words of all hints have a limit, too."""
    numbers = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    hints = [
        " ".join((numbers[at // 100], numbers[at // 10 % 10], numbers[at % 10], *["yes"] * 15))
        for at in range(1000)
    ]
    with pytest.raises(RecognitionFailed, match=f"at most {MAX_PRONUNCIATIONS} are") as error:
        HintGrammar(hints, dictionary)
    assert error.value.code == "invalid-hint"


def test_each_pronunciation_counts() -> None:
    """Words with several of them are as much work as several words."""
    hints = [" ".join(each) for each in product("abcdefgh", repeat=3)]  # 584 words
    HintGrammar(hints, Dictionary({each: ["AH"] * 8 for each in "abcdefgh"}))
    with pytest.raises(RecognitionFailed, match="too many words in all"):
        HintGrammar(hints, Dictionary({each: ["AH"] * 9 for each in "abcdefgh"}))


def test_a_thousand_plain_hints() -> None:
    """As many as a stream may have are prepared, if they have one or two words."""
    numbers = [str(at) for at in range(1000)]
    words = Dictionary(AnyWord())
    HintGrammar([f"w{each}".translate(_ALPHABET) for each in numbers], words)
    HintGrammar([f"w{each} x{each}".translate(_ALPHABET) for each in numbers], words)


def test_digits_are_added_once(dictionary: Dictionary) -> None:
    """A class that is named often is no more work."""
    once, often = (HintGrammar(["$digits"] * count, dictionary).grammar for count in (1, 1000))
    assert len(once.transitions) == len(often.transitions)


@given(st.lists(st.text(max_size=60), max_size=20))
@settings(max_examples=200)
def test_no_text_of_a_customer_is_in_a_grammar(hints: list[str]) -> None:
    """Names and phones have characters and figures, whatever a hint contains."""
    anything = Dictionary(AnyWord())
    try:
        made = HintGrammar(hints, anything).grammar
    except RecognitionFailed:
        return  # other tests say of what
    assert all(re.fullmatch("[a-z][a-z0-9]*", each.word) for each in made.transitions)
    assert {each.word for each in made.transitions} == {*made.pronunciations}


class AnyWord(dict[str, list[str]]):
    """A dictionary that knows each word."""

    def get(self, _key: object, _default: object = None) -> list[str]:
        return ["AH"]


def test_phones_in_any_order() -> None:
    """The other decoder accepts every sequence of phones."""
    grammar = phone_loop()
    assert grammar.start == grammar.final
    assert {phones[0] for phones in grammar.pronunciations.values()} >= {"AA", "ZH"}
