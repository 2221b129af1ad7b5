"""Normalization of search keys."""

import pytest

from api.contacts.search_keys import MAX_KEY_CHARS, normalize


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Nina", "nina"),
        ("ÅSE", "åse"),
        ("A\u030ase", "åse"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("n" * 500, "n" * MAX_KEY_CHARS),
        ("ß" * 128, "s" * MAX_KEY_CHARS),
    ],
)
def test_case_and_composition_do_not_count(text: str, key: str) -> None:
    """A key is never longer than an index entry may be."""
    assert normalize(text) == key
