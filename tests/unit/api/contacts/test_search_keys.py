"""Words as they are looked for."""

import pytest

from api.contacts.search_keys import MOST_KEY, folded


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Nina", "nina"),
        ("ÅSE", "åse"),
        ("A\u030ase", "åse"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("n" * 500, "n" * MOST_KEY),
        ("ß" * 128, "s" * MOST_KEY),
    ],
)
def test_case_and_composition_do_not_count(text: str, key: str) -> None:
    """And a key is never longer than an index takes."""
    assert folded(text) == key
