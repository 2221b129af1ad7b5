"""Texts of strangers, as they are stored and shown."""

import pytest

from wire.decoding.texts import printable


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("sales, please", "sales, please"),
        ("Grüße, 你好 👩‍👩‍👧", "Grüße, 你好 👩‍👩‍👧"),
        ("می‌خواهم", "می‌خواهم"),
        ("two\nlines\r\nand\ttabs\n", "two lines and tabs"),
        ("\x1b]0;title\x07\x9b2Jred\x00", "]0;title 2Jred"),
        ("photo\u202egpj.exe\u2066\u2069", "photogpj.exe"),
        ("next\u2028line", "next line"),
        ("half\ud800pair", "half pair"),
        ("\u202e", ""),
        ("  spaces  ", "spaces"),
        ("", ""),
    ],
)
def test_what_is_left_of_a_text(text: str, plain: str) -> None:
    """Letters of any script, and what joins them; nothing that a terminal obeys."""
    assert printable(text) == plain
