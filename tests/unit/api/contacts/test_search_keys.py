"""Normalization of search keys."""

import sys
import unicodedata

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
        ("İBRAHİM", "ibrahim"),
        ("IŞIK", "işik"),
        ("\u0131ş\u0131k", "işik"),
        ("ΣΟΦΟΣ", "σοφοσ"),
        ("σοφος", "σοφοσ"),
        ("\uff21\uff44\uff41", "ada"),
        ("\ufedf\ufef4\ufee0\ufef0", "\u0644\u064a\u0644\u0649"),  # as Arabic text is printed
        ("n" * 500, "n" * MAX_KEY_CHARS),
        ("ß" * 128, "s" * MAX_KEY_CHARS),
    ],
)
def test_case_and_composition_do_not_count(text: str, key: str) -> None:
    """A key is never longer than an index entry may be."""
    assert normalize(text) == key


def test_all_forms_of_a_character_have_one_key() -> None:
    """Its cases, and its Unicode forms; a key is its own."""
    for char in filter(_has_case, map(chr, range(sys.maxunicode + 1))):
        composed = (unicodedata.normalize(form, char) for form in ("NFC", "NFD", "NFKC", "NFKD"))
        cases = (char.upper(), char.lower(), char.title(), char.casefold())
        key = normalize(char)
        assert {normalize(each) for each in (*composed, *cases, key)} == {key}, hex(ord(char))


def _has_case(char: str) -> bool:
    return unicodedata.category(char) in {"Lu", "Ll", "Lt"}
