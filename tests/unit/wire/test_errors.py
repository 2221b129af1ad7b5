"""A decoder's error is converted to a path and a message."""

import msgspec
import pytest

from wire.errors import BadInput, from_decoder


@pytest.mark.parametrize(
    ("words", "path", "message"),
    [
        ("Expected `str`, got `int` - at `$.a.b`", "p.a.b", "Expected `str`, got `int`"),
        ("Expected `str`, got `int`", "p", "Expected `str`, got `int`"),
        ("Object contains unknown field `x` - at `$.a`", "p.a.x", "Object contains unknown field"),
        ("Object missing required field `x`", "p.x", "Object missing required field `x`"),
        ("Expected `int` - at `$.a[3]`", "p.a[3]", "Expected `int`"),
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
