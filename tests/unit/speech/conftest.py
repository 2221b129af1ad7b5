"""Fixtures of the unit tests of recognizers."""

import pytest

from speech.vocabulary import Dictionary

WORDS = (
    "sales support billing yes no human agent mail voice twenty four hundred forty two five six"
    " zero one three seven eight nine oh please thanks thank you um uh cafe option and at"
)


@pytest.fixture
def dictionary() -> Dictionary:
    """Provide a dictionary of some words, each with its characters as phones, and characters."""
    words = {word: [" ".join(word.upper())] for word in WORDS.split()}
    return Dictionary({**words, **{f"{character}.": [character.upper()] for character in "bmsx"}})
