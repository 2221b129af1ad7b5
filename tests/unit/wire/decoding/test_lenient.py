"""Documents are read as they are meant, or rejected with all of their errors."""

import json
from typing import Annotated, Any

import msgspec
import pytest
from msgspec import UNSET, Meta, Struct, UnsetType, field

from wire.base import Name, Shape, Text
from wire.decoding import lenient
from wire.decoding.errors import MAX_ERRORS, BadInput, InputErrors, errors_in
from wire.rpc import Originate
from wire.tree import parse_action


class Part(Shape, frozen=True):
    """An inner object."""

    count: Annotated[int, Meta(ge=0)] = 7
    name: Name | None = None


class Document(Shape, frozen=True, kw_only=True):
    """An object with a field of each kind."""

    size: int
    ratio: float = 1.0
    kept: Name | UnsetType | None = UNSET
    free: str = "x"
    tracked: Text | None = None
    part: Part = Part()
    parts: tuple[Part, ...] = ()
    named: dict[str, Part] = field(default_factory=dict)
    mixed: Name | tuple[Name, ...] | None = None
    described: Annotated[list[str], Meta(description="texts")] | None = None


def read(**fields: Any) -> Document:
    return lenient.decode(json.dumps({"size": 1, **fields}).encode(), Document)


def faults(document: Any, shape: Any = Document, prefix: str = "") -> dict[str, str]:
    """Return the paths of all errors, with their messages."""
    with pytest.raises(BadInput) as caught:
        lenient.decode(json.dumps(document).encode(), shape, prefix)
    return {each.path: each.message for each in errors_in(caught.value)}


def test_whole_floats_are_integers() -> None:
    """5000.0 is 5000, at every depth; 0.5 is no integer."""
    found = read(size=5000.0, ratio=2.0, part={"count": 3.0}, parts=[{"count": 4.0}])
    assert (found.size, found.ratio, found.part.count, found.parts[0].count) == (5000, 2.0, 3, 4)
    assert type(found.size) is int
    assert faults({"size": 0.5}) == {"size": "expected a whole number, got a decimal number"}


def test_empty_optional_fields_are_absent() -> None:
    """Null and "" are like no field, unless the field accepts them."""
    found = read(ratio=None, tracked="", part={"name": "", "count": ""}, free="")
    assert (found.ratio, found.part, found.free) == (1.0, Part(), "")
    assert read(part=None).part == Part()
    assert not read(tracked=None).tracked


def test_an_empty_text_clears_what_null_clears() -> None:
    """Where null has a meaning, an empty text that is not accepted itself means the same."""
    assert read().kept is UNSET
    assert read(kept=None).kept is None
    assert read(kept="").kept is None


def test_a_required_field_stays_required() -> None:
    """It may neither be null nor, where its type rejects it, empty."""
    assert faults({"size": None}) == {"size": "expected a whole number, got null"}
    assert faults({}) == {"size": "required, but missing"}


@pytest.mark.parametrize(
    ("given", "text"), [(5, "5"), (1.5, "1.5"), (True, "true"), ("five", "five")]
)
def test_scalars_are_texts(given: Any, text: str) -> None:
    """Where a text means any value, a number or a boolean is its JSON."""
    assert read(tracked=given).tracked == text
    assert faults({"size": 1, "free": 5}) == {"free": "expected text, got a whole number"}


def test_all_errors_are_reported() -> None:
    """Each has its path: unknown, missing and invalid fields, in objects, lists and mappings."""
    document = {
        "ratio": "x",
        "nonsense": 1,
        "part": {"count": -1, "name": "a b"},
        "parts": [{}, {"count": "x"}],
        "named": {"one": {"more": 1}},
        "mixed": ["good", "b d"],
        "described": [7],
    }
    found = faults(document)
    assert list(found) == [
        "nonsense",
        "size",
        "ratio",
        "part.count",
        "part.name",
        "parts[1].count",
        "named.one.more",
        "mixed[1]",
        "described[0]",
    ]
    assert found["nonsense"].endswith("; one of size, ratio, kept, free, tracked, part, parts,"
                                      " named, mixed, described")  # fmt: skip
    assert found["part.name"] == "expected 1 to 64 letters, digits, _ or -"


def test_a_prefix_is_part_of_each_path() -> None:
    """The path starts where the document is."""
    assert list(faults({"size": "x"}, prefix="data")) == ["data.size"]
    assert list(faults(5, prefix="data")) == ["data"]


def test_errors_are_limited() -> None:
    """A document with thousands of errors is not an attack."""
    with pytest.raises(InputErrors) as caught:
        read(**{f"x{number}": 1 for number in range(4_000)})
    assert len(caught.value.errors) == MAX_ERRORS


def test_a_tree_reports_all_of_its_errors() -> None:
    """Shapes first; then addresses, parties and what else only the whole tree shows."""
    with pytest.raises(InputErrors) as caught:
        parse_action(b'{"type":"play","data":{},"action":{"type":"sing"},"x":1}', prefix="action")
    assert {each.path for each in caught.value.errors} == {
        "action.x", "action.data.audioUrl", "action.action.type",
    }  # fmt: skip
    assert "one of play, say, gather" in str(caught.value)
    urls = {"type": "play", "data": {"audioUrl": ["http://a.b/", "http://c.d/"]},
            "action": {"type": "dial", "data": {}}}  # fmt: skip
    with pytest.raises(InputErrors) as caught:
        parse_action(json.dumps(urls).encode())
    assert [each.path for each in caught.value.errors] == [
        "data.audioUrl[0]", "data.audioUrl[1]", "action.data",
    ]  # fmt: skip


def test_a_request_reports_the_errors_of_its_tree_too() -> None:
    """The tree is a part of the request like any other."""
    request = {"account": "a", "to": "x", "action": {"type": "gather", "data": {"maxDigits": 0}}}
    assert list(faults(request, Originate)) == ["from", "to", "action.data.maxDigits"]
    untyped = {"account": "a", "from": "+4721930000", "to": "+4722222222", "action": {"data": {}}}
    assert list(faults(untyped, Originate)) == ["action.type"]


def test_a_query_is_read_alike() -> None:
    """Its values are texts; an empty one is absent."""

    class Query(Struct, frozen=True, forbid_unknown_fields=True):
        limit: Annotated[int, Meta(ge=1)] = 10
        name: Name | None = None

    assert lenient.convert({"limit": "5", "name": ""}, Query, strict=False) == Query(5)
    assert lenient.convert({"limit": ""}, Query, strict=False) == Query()
    with pytest.raises(InputErrors):
        lenient.convert({"limit": "x", "name": "a b"}, Query, strict=False)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"0\x00", b'{"size":1}}', b"[" * 5_000])
def test_what_is_no_json_is_bad_input(body: bytes) -> None:
    """Also where an error of the shape comes first."""
    with pytest.raises(BadInput):
        lenient.decode(body, Document)


def test_a_strict_document_is_decoded_once() -> None:
    """What the shape accepts is what msgspec returns."""
    document = Document(size=3, part=Part(1, "x"), named={"a": Part()})
    assert lenient.decode(msgspec.json.encode(document), Document) == document


class _Change(Struct):
    version: int
    body: msgspec.Raw


class _Changes(Struct):
    changes: list[_Change]


def test_raw_documents_are_no_errors() -> None:
    """A part of any shape is accepted beside a faulty field, and beside one that is converted."""
    bodies = (b"{}", b"null", b'""', b"[1.0]")
    for body in bodies:
        text = b'{"changes": [{"version": 1, "body": %b}, {"version": "x", "body": %b}]}'
        with pytest.raises(BadInput) as raised:
            lenient.decode(text % (body, body), _Changes)
        assert [each.path for each in errors_in(raised.value)] == ["changes[1].version"]
        found = lenient.decode((text % (body, body)).replace(b'"x"', b"2.0"), _Changes)
        assert [each.version for each in found.changes] == [1, 2]
        assert [bytes(each.body) for each in found.changes] == [body, body]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("+47 90 00 00 01", "+4790000001"),
        ("+47 (0) 90-00.00 01", "+4790000001"),
        ("\u202a+4790000001\u202c", "+4790000001"),
        ("tel:+4790000001", "+4790000001"),
        ("90 00 00 01", "90000001"),
        ("1 1 2", "112"),
    ],
)
def test_a_number_may_have_separators(text: str, number: str) -> None:
    """As people write it; what a party is apart from that stays."""
    fields = {
        "account": "acme",
        "from": "+4721930000",
        "to": text,
        "action": {"type": "hangup", "data": {}},
    }
    found = lenient.decode(json.dumps(fields).encode(), Originate)
    assert found.to == number


@pytest.mark.parametrize("text", ["12 x4", "+47 90000001/90000002", "agent: 1001", "*21 #", ""])
def test_another_text_is_not_a_number(text: str) -> None:
    """The message says what is allowed."""
    fields = {
        "account": "acme",
        "from": "+4721930000",
        "to": text,
        "action": {"type": "hangup", "data": {}},
    }
    assert "expected a number such as" in faults(fields, Originate)["to"]
