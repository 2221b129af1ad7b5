"""JSON is read as it is meant, where that is clear."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.base import Shape
from wire.decoding import lenient
from wire.decoding.errors import BadInput
from wire.decoding.json_errors import check_unique, read_json, repaired

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
        (r"\ud83d\\ud83d\ude00", "\ufffd\\ud83d\ufffd"),
        (r"\ude00\ud83d\\", "\ufffd\ufffd\\"),
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


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ('{"a": 1, "b": 2, "a": 3}', "a"),
        ('{"nodes": {"menu": {}, "end": [{}, {"x": 1, "x": 1}]}}', "nodes.end[1].x"),
        (r'{"a": 1, "\u0061": 2}', "a"),
        ('{"a": {"b": 1, "b": 2}, "a": 3}', "a"),  # the inner one is not in what is read
        ('[{"a": 1}, {"a": 1, "": 2, "": 3}]', "[1]."),
        ('\ufeff{"a": 1, "a": 2}', "a"),
    ],
)
def test_a_name_that_is_twice_in_an_object_is_rejected(body: str, path: str) -> None:
    """The error has its path."""
    with pytest.raises(BadInput) as caught:
        check_unique(body.encode())
    assert (caught.value.path, caught.value.message) == (path, "given twice in its object")


@pytest.mark.parametrize("body", ["", "{}", "7", '[{"a": 1}, {"a": 1}]', "9" * 5_000, "[" * 99_999])
def test_other_documents_are_unique(body: str) -> None:
    """What is not valid JSON is left to the decoder."""
    check_unique(body.encode())
