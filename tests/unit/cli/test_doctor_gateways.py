"""How the doctor names recognizers."""

import pytest

from cli.doctor.gateways import MAX_LANGUAGES, describe
from wire.streams.recognizer import ListedRecognizer


@pytest.mark.parametrize(
    ("languages", "text"),
    [
        (("en",), "nova (en)"),
        (("de", "en"), "nova (de en)"),
        (("xx",) * (MAX_LANGUAGES + 1), "nova (13 languages)"),
        ((), "nova (languages of its service)"),
    ],
)
def test_a_recognizer_has_languages(languages: tuple[str, ...], text: str) -> None:
    """They are named, unless they are many or not known here."""
    assert describe(ListedRecognizer("nova", languages)) == text
