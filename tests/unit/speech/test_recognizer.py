"""What recognizers of free speech make of hints and languages."""

import pytest

from speech.recognizer import hinted_words, model_language, prompt_of
from wire.streams.recognizer import SpokenHint


def test_words() -> None:
    """They are as they are written; a class of a grammar is no word."""
    hints: list[str | SpokenHint] = ["billing", "$digits", SpokenHint("Kjell", "shell")]
    assert hinted_words(hints) == ["billing", "Kjell"]
    assert prompt_of(hints) == "billing, Kjell"


def test_a_prompt_is_short() -> None:
    """It has the first hints, as far as they fit."""
    prompt = prompt_of(["x" * 99] * 10)
    assert prompt == ", ".join(["x" * 99] * 4)


@pytest.mark.parametrize(
    ("language", "expected"), [("en-US", "en"), ("DE", "de"), ("nb-NO", "no"), ("nn-NO", "nn")]
)
def test_languages(language: str, expected: str) -> None:
    """Models know them by two letters, and Bokmål as Norwegian."""
    assert model_language(language) == expected
