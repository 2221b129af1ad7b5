"""A decoder's error is converted to a path and a message."""

import msgspec
import pytest

from wire.decoding.errors import BadInput, from_decoder


@pytest.mark.parametrize(
    ("words", "path", "message"),
    [
        ("Expected `str`, got `int` - at `$.a.b`", "p.a.b", "expected text, got a whole number"),
        ("Expected `str`, got `int`", "p", "expected text, got a whole number"),
        ("Object contains unknown field `x` - at `$.a`", "p.a.x", "unknown field"),
        ("Object missing required field `x`", "p.x", "required, but missing"),
        ("Expected `int` - at `$.a[3]`", "p.a[3]", "expected a whole number"),
        ("Invalid value ' - at `$.z`' - at `$.a`", "p.a", "invalid value ' - at `$.z`'"),
        ("two\nlines", "p", "two\nlines"),
    ],
)
def test_words_become_a_path(words: str, path: str, message: str) -> None:
    """The path is the decoder's, below a prefix, with the field that the error names."""
    error = from_decoder(msgspec.DecodeError(words), "p")
    assert error.path == path
    assert error.message.startswith(message)


def test_without_a_prefix_the_path_is_the_decoders() -> None:
    """`$` itself is no path."""
    assert from_decoder(msgspec.DecodeError("no")).path == ""
    assert str(from_decoder(msgspec.DecodeError("no"))) == "no"


def test_bad_input_says_where() -> None:
    """The text holds the path, if there is one."""
    assert str(BadInput("a.b", "is wrong")) == "a.b: is wrong"
    assert BadInput("", "is wrong").code == "invalid"
