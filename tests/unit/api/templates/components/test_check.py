"""Validation of a template's components."""

import re
from typing import Any

import pytest

from api.templates.components.check import check
from api.templates.components.model import Format
from api.templates.components.parser import Shortcuts, parse_components, to_documents
from api.templates.input_mapping import draft_columns
from api.templates.schemas import NewTemplate
from tests.unit.api.templates.components.inputs import (
    BODY,
    CALL,
    COPY,
    FORM,
    HANDLE,
    body,
    buttons,
    error_of,
    header,
    named,
    reply,
    url,
)
from wire.decoding.errors import BadInput


@pytest.mark.parametrize(
    "components",
    [
        [BODY],
        [body("{{1}} and {{2}}, {{1}} again", "a", "b")],
        [{"type": "BODY", "text": "{{1}} {{2}}", "example": {"body_text": ["a", "b"]}}],
        [{"type": "body", "text": "x" * 1_024}],
        [body("{{1}}", "x" * 1_024)],
        [BODY, header(format="text", text="x" * 60)],
        [BODY, header(format="TEXT", text="{{1}}!", example={"header_text": ["a"]})],
        [BODY, header(format="IMAGE", **HANDLE)],
        [BODY, header(format="document", **HANDLE)],
        [BODY, header(format="LOCATION")],
        [BODY, {"type": "FOOTER", "text": "x" * 60}],
        [BODY, buttons(*(reply(str(n)) for n in range(10)))],
        [BODY, buttons(reply("a"), reply("b"), url("https://example.com"), CALL)],
        [BODY, buttons(url("https://example.com/{{1}}", "7"), CALL, COPY, reply("a"))],
        [BODY, buttons(url("https://a.example"), url("https://b.example"), FORM)],
        [BODY, buttons({"type": "VOICE_CALL", "text": "Call us"})],
    ],
)
def test_valid_components(components: list[Any]) -> None:
    """Every kind of component, up to its limits."""
    assert error_of(*components) is None


def test_named_placeholders() -> None:
    """Each with an example of its name, in any order; no numbers."""
    text = "{{first_name}}, your order {{order_2}}"
    assert error_of(named(text, "order_2", "first_name"), style="NAMED") is None
    path = "components[0].example.body_text_named_params"
    for names in ((), ("first_name",), ("first_name", "order_2", "x"), ("a", "b")):
        assert error_of(named(text, *names), style="NAMED") == (path, "examples_do_not_fit")
    assert error_of(named("{{1}}", "1"), style="NAMED") == ("components[0].text", "bad_placeholder")
    wrong = ("components[0].example.body_text", "invalid")
    assert error_of(body("{{a}}", "x"), style="NAMED") == wrong
    wrong = ("components[0].example.body_text_named_params", "invalid")
    assert error_of(named("{{1}}", "1")) == wrong


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{{2}}", "placeholder_gap"),
        ("{{1}} {{3}}", "placeholder_gap"),
        ("{{0}}", "bad_placeholder"),
        ("{{01}}", "bad_placeholder"),
        ("{{ 1 }}", "bad_placeholder"),
        ("{{}}", "bad_placeholder"),
        ("{{name}}", "bad_placeholder"),
        ("{{\u0661}}", "bad_placeholder"),
        ("{{1", "bad_placeholder"),
        ("1}}", "bad_placeholder"),
        ("{{{{1}}", "bad_placeholder"),
        ("{{1\n}}", "bad_placeholder"),
    ],
)
def test_invalid_placeholders(text: str, code: str) -> None:
    """They are numbered from 1 without a gap, in two braces, with nothing else between them."""
    assert error_of(body(text, "a")) == ("components[0].text", code)


@pytest.mark.parametrize(
    ("components", "path", "code"),
    [
        ([], "components", "no_body"),
        ([{"type": "FOOTER", "text": "x"}], "components", "no_body"),
        ([BODY, BODY], "components[1]", "two_of_a_kind"),
        ([{"type": "BODY"}], "components[0].text", "invalid"),
        ([{"type": "BODY", "text": ""}], "components[0].text", "invalid"),
        ([{"type": "BODY", "text": "x" * 1_025}], "components[0].text", "invalid"),
        ([body("{{1}}")], "components[0].example.body_text", "examples_do_not_fit"),
        ([body("{{1}}", "a", "b")], "components[0].example.body_text", "examples_do_not_fit"),
        ([body("{{1}}", "x" * 1_025)], "components[0].example.body_text[0][0]", "invalid"),
        ([body("none", "a")], "components[0].example.body_text", "examples_do_not_fit"),
        ([{**BODY, "add_security_recommendation": True}],
         "components[0].add_security_recommendation", "invalid"),
        ([BODY, header(text="x")], "components[1].format", "invalid"),
        ([BODY, header(format="SONG")], "components[1].format", "invalid"),
        ([BODY, header(format="TEXT")], "components[1].text", "invalid"),
        ([BODY, header(format="TEXT", text="x" * 61)], "components[1].text", "invalid"),
        ([BODY, header(format="TEXT", text="{{1}} {{2}}")],
         "components[1].text", "too_many_placeholders"),
        ([BODY, header(format="TEXT", text="{{1}}")],
         "components[1].example.header_text", "examples_do_not_fit"),
        ([BODY, header(format="TEXT", text="x", **HANDLE)],
         "components[1].example.header_handle", "invalid"),
        ([BODY, header(format="IMAGE")],
         "components[1].example.header_handle", "example_required"),
        ([BODY, header(format="IMAGE", example={})],
         "components[1].example.header_handle", "example_required"),
        ([BODY, header(format="IMAGE", text="x", **HANDLE)], "components[1].text", "invalid"),
        ([BODY, header(format="LOCATION", **HANDLE)], "components[1].example", "invalid"),
        ([BODY, {"type": "FOOTER", "text": "{{1}}"}],
         "components[1].text", "too_many_placeholders"),
        ([BODY, {"type": "FOOTER", "text": "1}}"}],
         "components[1].text", "too_many_placeholders"),
        ([BODY, {"type": "FOOTER", "text": "x" * 61}], "components[1].text", "invalid"),
        ([BODY, {"type": "FOOTER"}], "components[1].text", "invalid"),
        ([BODY, {"type": "FOOTER", "text": "x", "code_expiration_minutes": 5}],
         "components[1].code_expiration_minutes", "invalid"),
    ],
)  # fmt: skip
def test_invalid_components(components: list[Any], path: str, code: str) -> None:
    """Each error has its path, with the index of the request."""
    assert error_of(*components) == (path, code)


def test_names_of_components_whose_text_is_given() -> None:
    """They are no components of their own; a name without its text is an error."""
    texts = Shortcuts(header="Hi", body="Hello {{1}}.")
    found = parse_components(["header", "BODY"], texts, "POSITIONAL")
    assert [path for path, _ in found] == ["headerText", "bodyText"]
    for other in ("footer", "[1]", "7"):
        with pytest.raises(BadInput, match="the name of a text that is given"):
            parse_components([other], texts, "POSITIONAL")


@pytest.mark.parametrize(
    ("style", "text", "header", "body"),
    [
        ("POSITIONAL", "{{1}}", {"header_text": ["1"]}, {"body_text": [["1"]]}),
        (
            "NAMED",
            "{{a}}",
            {"header_text_named_params": [{"param_name": "a", "example": "a"}]},
            {"body_text_named_params": [{"param_name": "a", "example": "a"}]},
        ),
    ],
)
def test_examples_of_texts_alone(style: Format, text: str, header: Any, body: Any) -> None:
    """Each placeholder's name is its example, in the form that the platform has for it."""
    found = parse_components([], Shortcuts(header=text, body=text), style)
    documents = to_documents([each for _, each in found])
    assert [each["example"] for each in documents] == [header, body]


def test_spellings_of_the_platform() -> None:
    """Categories in lower case and languages with a hyphen are what the platform means."""
    columns = draft_columns(
        NewTemplate(
            name="hello",
            language="en-us",
            category="marketing",
            phone_number_id="1",
            sub_category="custom",
            body_text="Hello.",
        )
    )
    assert (columns["language"], columns["category"]) == ("en_US", "MARKETING")
    assert columns["sub_category"] == "CUSTOM"


@pytest.mark.parametrize(
    ("given", "words"),
    [(body("{{1}} {{2}}", "a"), "({{1}}, {{2}}), there are 1"), (body("x", "a"), "(none), there")],
)
def test_an_error_names_the_placeholders(given: Any, words: str) -> None:
    """So the writer of a template knows which examples are missing, or too many."""
    found = parse_components([given], Shortcuts(), "POSITIONAL")
    with pytest.raises(BadInput, match=re.escape(words)):
        check(found, "UTILITY", "POSITIONAL")
