"""Pronunciations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speech.vocabulary import Dictionary, parse_dictionary, sayings


def test_a_file_of_words() -> None:
    """Further pronunciations of a word are numbered; other lines are ignored."""
    lines = ["a AH\n", "a(2) EY\n", "\n", "lonely\n", "able EY B AH L\n"]
    assert parse_dictionary(lines) == {"a": ["AH", "EY"], "able": ["EY B AH L"]}


def test_known_words(dictionary: Dictionary) -> None:
    """As the dictionary has them."""
    assert dictionary.find("yes") == ["Y E S"]


def test_compounds(dictionary: Dictionary) -> None:
    """Two known words of three characters or more are one word."""
    assert dictionary.find("voicemail") == ["V O I C E M A I L"]
    assert dictionary.find("nono") == []


def test_abbreviations(dictionary: Dictionary) -> None:
    """Short words without a vowel are spelled, if all characters are known."""
    assert dictionary.find("sms") == ["S M S"]
    assert dictionary.find("smsmsm") == []
    assert dictionary.find("sz") == []
    assert dictionary.find("ox") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Sales", ["sales"]),
        ("Human  Agent!", ["human agent"]),
        ("don't", ["don't"]),
        ("don\u2019t", ["don't"]),
        ("Café", ["cafe"]),
        ("Blåbær", ["blabaer"]),
        ("R&D", ["r and d"]),
        ("option 2", ["option two"]),
        ("24", ["twenty four", "two four"]),
        ("404", ["four hundred four", "four zero four"]),
        ("110", ["one hundred ten", "one one zero"]),
        ("007", ["zero zero seven"]),
        ("4711", ["four seven one one"]),
        ("§§ ;", []),
        ("", []),
    ],
)
def test_figures_and_signs_become_words(text: str, said: list[str]) -> None:
    """In the ways in which people say them."""
    assert [" ".join(each) for each in sayings(text)] == said


@given(st.text(max_size=100))
def test_words_are_alphabetic(text: str) -> None:
    """Whatever a hint contains."""
    ways = sayings(text)
    assert len(ways) <= 8
    for way in ways:
        assert all(word.replace("'", "").isalpha() and word.isascii() for word in way)
        assert all(word == word.lower() for word in way)
