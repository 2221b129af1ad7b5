"""JSON is read as it is meant, where that is clear."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.base import Shape
from wire.decoding import lenient
from wire.decoding.json_document import read_json, repaired

MARK = b"\xef\xbb\xbf"


class Document(Shape, frozen=True):
    """An object with a text."""

    text: str


def read(body: bytes) -> str:
    """Return the text of a document as both decoders read it."""
    found = lenient.decode(body, Document).text
    assert read_json(body) == {"text": found}
    return found


def test_a_byte_order_mark_is_skipped() -> None:
    """At the beginning: elsewhere it is a character."""
    body = json.dumps({"text": "\ufeffa"}, ensure_ascii=False).encode()
    assert read(MARK + body) == "\ufeffa"
    assert read(MARK * 30_000 + body) == "\ufeffa"


@pytest.mark.parametrize(
    ("given_text", "read_text"),
    [
        (r"\ud800", "\ufffd"),
        (r"\udc00", "\ufffd"),
        (r"a\uD83Db", "a\ufffdb"),
        (r"\ud800\u0041", "\ufffdA"),
        (r"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (r"\ud83d\ude00", "\U0001f600"),
        (r"\ud83d\n", "\ufffd\n"),
        (r"\\ud83d \ud83d", "\\ud83d \ufffd"),
        (r"\\\ud83d", "\\\ufffd"),
    ],
)
def test_half_of_a_surrogate_pair_is_replaced(given_text: str, read_text: str) -> None:
    """It is no character: who cuts a text may cut a pair. An escaped backslash begins none."""
    assert read(f'{{"text": "{given_text}"}}'.encode()) == read_text


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_whole_texts_stay(text: str) -> None:
    """Whatever they contain, escaped or not."""
    for is_ascii in (True, False):
        body = json.dumps({"text": text}, ensure_ascii=is_ascii).encode()
        assert repaired(body) == body
        assert read(body) == text


@given(st.text(alphabet=st.characters(categories=["Cs", "Lu"]), max_size=6))
def test_any_halves_are_read(text: str) -> None:
    """As Python reads them, with a replacement for each half."""
    expected = text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
    assert read(json.dumps({"text": text}).encode()).replace("\ufffd", "") == expected
