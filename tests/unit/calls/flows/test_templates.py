"""`{{contact.fName}}` in a flow; `contact` is an object."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from engine.calls.flows.templates import (
    MAX_DEPTH,
    MAX_FILLED_BYTES,
    fill,
    is_name,
    names,
    to_text,
)
from engine.calls.flows.templates import fill_decoded as fill_in
from tests.harness.calls.flows import CountedValue
from wire.decoding.errors import BadInput


def filled(flow: Any, contact: dict[str, Any]) -> Any:
    """Fill a flow."""

    def value(name: str) -> Any:
        return contact.get(name.removeprefix("contact."))

    return json.loads(fill(json.dumps(flow).encode(), value))


def test_a_field_is_filled_in() -> None:
    """Blanks within the braces are allowed; other types become text."""
    flow = {"type": "say", "data": {"text": "Hi {{contact.fName}}, {{ contact.n }}!"}}
    said = filled(flow, {"fName": "Ada", "n": 3})
    assert said["data"]["text"] == "Hi Ada, 3!"


def test_a_missing_field_is_empty() -> None:
    """A field that the contact lacks, or that is null, becomes empty."""
    assert filled("<{{contact.no}}{{contact.null}}>", {"null": None}) == "<>"


@pytest.mark.parametrize(
    "text", ["{{fName}}", "{{contact.}}", "{{contact.a b}}", "{contact.fName}", "{{ contact }}"]
)
def test_other_braces_stay(text: str) -> None:
    """Only valid names are filled in."""
    assert filled(text, {"fName": "Ada"}) == text


def test_lists_are_filled_and_other_values_kept() -> None:
    """Numbers, booleans, null and keys stay the same."""
    flow = {"{{contact.a}}": ["{{contact.a}}", 1, 2.5, True, None]}
    assert filled(flow, {"a": "x"}) == {"{{contact.a}}": ["x", 1, 2.5, True, None]}


@given(some.text())
def test_no_field_can_add_structure(value: str) -> None:
    """A value stays within its string, and is not filled in again."""
    assert filled({"text": "{{contact.a}}"}, {"a": value, "b": "!"}) == {"text": value}


def test_a_value_becomes_text_once() -> None:
    """However often it occurs, also if it is the whole of a typed text."""
    value = CountedValue("x")
    document = ["{{contact.a}}" * 300, *["{{contact.a}}"] * 300]
    assert fill_in(document, lambda _name: value, typed=True) == ["x" * 300, *[value] * 300]
    assert value.count == 1


def test_the_work_ends_at_the_limit() -> None:
    """What follows the values that are too large together is not looked up."""
    found: list[str] = []

    def look_up(name: str) -> str:
        found.append(name)
        return "x" * (MAX_FILLED_BYTES // 2)

    document = ["".join(f"{{{{contact.v{number}}}}}" for number in range(300))]
    with pytest.raises(BadInput, match="once filled in"):
        fill_in(document, look_up)
    assert len(found) == 3


def test_values_of_the_largest_size() -> None:
    """Each occurrence counts, and the limit itself is allowed."""
    half = "x" * (MAX_FILLED_BYTES // 2)
    assert fill_in("{{vars.x}}" * 2, lambda _name: half) == half * 2
    for more in ("{{vars.x}}" * 3, ["{{vars.x}}"] * 3):
        with pytest.raises(BadInput, match=f"larger than {MAX_FILLED_BYTES} bytes"):
            fill_in(more, lambda _name: half, typed=True)
    assert fill_in("{{vars.x}}" * 3, lambda _name: half, max_bytes=len(half) * 3) == half * 3


def test_the_depth_of_a_document() -> None:
    """One that is as deep as allowed is filled in, and a deeper one is refused."""
    document: Any = "{{contact.a}}"
    for _ in range(MAX_DEPTH):
        document = [document]
    assert json.dumps(filled(document, {"a": "x"})).count('"x"') == 1
    assert len(list(names(document))) == 1
    for read in (lambda deeper: filled(deeper, {}), lambda deeper: list(names(deeper))):
        with pytest.raises(BadInput):
            read([document])


@pytest.mark.parametrize(
    "body", [b"", b"{", b'"\xff"', b"[" * 100_000, b'{"a":' * 300 + b"1" + b"}" * 300]
)
def test_invalid_documents(body: bytes) -> None:
    """No JSON, no UTF-8, or nested too deep."""
    with pytest.raises(BadInput):
        fill(body, lambda _name: None)


DOCUMENTS = some.recursive(
    some.one_of(some.none(), some.booleans(), some.integers(), some.text()),
    lambda inner: some.one_of(some.lists(inner), some.dictionaries(some.text(), inner)),
    max_leaves=20,
)


@given(DOCUMENTS)
def test_documents_without_templates_stay(document: Any) -> None:
    """Documents without templates are unchanged, whatever braces they have."""
    if not any(is_name(name) for _, name in names(document)):
        assert fill_in(document, lambda _name: "x") == document
        assert fill_in(document, lambda _name: "x", typed=True) == document


@given(some.text(some.characters(exclude_characters="{}")), DOCUMENTS)
def test_a_typed_template_is_the_value(around: str, value: Any) -> None:
    """Alone it is the value itself; with text around it, text."""
    alone = fill_in({"a": "{{ vars.x }}"}, lambda _name: value, typed=True)
    assert alone == {"a": value}
    beside = fill_in(f"{{{{vars.x}}}}-{around}", lambda _name: value, typed=True)
    assert beside == f"{to_text(value)}-{around}"


@given(some.text())
def test_a_value_is_not_filled_in_again(value: str) -> None:
    """Braces within a value stay as they are."""
    hidden = value + "{{vars.secret}}"
    assert fill_in("{{vars.x}}", {"vars.x": hidden, "vars.secret": "!"}.get) == hidden


def test_names_are_found_with_their_paths() -> None:
    """For checks: each template's path, whether it is valid or not."""
    document = {"a": ["x {{vars.n}} {{ nope }}"], "b": {"c": "{{digits}}"}}
    assert list(names(document)) == [("a[0]", "vars.n"), ("a[0]", "nope"), ("b.c", "digits")]
    assert [is_name(each) for each in ("digits", "vars.n", "vars", "nope.x", "vars.n ")] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_documents_that_grow_too_large_are_rejected() -> None:
    """Many templates of one large value exceed the limit."""
    with pytest.raises(BadInput, match="filled in"):
        fill_in(["{{vars.x}}"] * 200, lambda _name: "x" * 10_000)
