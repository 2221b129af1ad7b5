"""Words as they are looked for."""

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
    """And a key is never longer than an index takes."""
    assert normalize(text) == key
