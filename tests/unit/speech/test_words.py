"""What is said for a hint."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speech.grammar.words import sayings


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
