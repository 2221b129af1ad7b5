"""Rendering of a message's components."""

from typing import Any

import pytest

from api.templates.components.parser import parse_component
from api.templates.components.rendering import render
from wire.decoding.errors import BadInput

BODY = {"type": "BODY", "text": "{{1}} {{2}}"}
HEADER = {"type": "HEADER", "format": "TEXT", "text": "Hi {{1}}"}
BUTTONS = {
    "type": "BUTTONS",
    "buttons": [
        {"type": "QUICK_REPLY", "text": "No"},
        {"type": "URL", "text": "Open", "url": "https://example.com/{{1}}", "example": ["x"]},
        {"type": "COPY_CODE", "example": "x"},
    ],
}


def text(value: str, **more: str) -> dict[str, Any]:
    """Return a text parameter."""
    return {"type": "text", **more, "text": value}


def rendered(components: list[Any], style: Any = "POSITIONAL", **given: str) -> Any:
    """Render; underscores in names stand for dots."""
    values = {name.strip("_").replace("_", "."): each for name, each in given.items()}
    return render([parse_component(each, "") for each in components], style, values)


def test_each_place_has_its_value() -> None:
    """A header's and a button's own, and the body's; buttons are counted from 0."""
    given = {"_1": "a", "_2": "b", "header_1": "h", "buttons_1_1": "u", "buttons_2_1": "c"}
    assert rendered([HEADER, BODY, BUTTONS], **given) == [
        {"type": "header", "parameters": [text("h")]},
        {"type": "body", "parameters": [text("a"), text("b")]},
        {"type": "button", "sub_type": "url", "index": "1", "parameters": [text("u")]},
        {
            "type": "button",
            "sub_type": "copy_code",
            "index": "2",
            "parameters": [{"type": "coupon_code", "coupon_code": "c"}],
        },
    ]


def test_numbers_alone_are_enough() -> None:
    """A placeholder without a value of its own has that of the same number."""
    header, body, *buttons = rendered([HEADER, BODY, BUTTONS], _1="a", _2="b")
    assert header["parameters"] == [text("a")]
    assert body["parameters"] == [text("a"), text("b")]
    assert [each["parameters"][0].popitem()[1] for each in buttons] == ["a", "a"]


def test_a_header_without_a_text() -> None:
    """As a template of the platform may have it: it has no values."""
    body = rendered([{"type": "HEADER", "format": "TEXT"}, BODY], _1="a", _2="b")
    assert [each["type"] for each in body] == ["body"]


def test_named_values() -> None:
    """Each is sent with its name."""
    body = {"type": "BODY", "text": "{{first}}, {{last}} and {{first}}"}
    assert rendered([body], "NAMED", first="Ada", last="L") == [
        {
            "type": "body",
            "parameters": [
                text("Ada", parameter_name="first"),
                text("L", parameter_name="last"),
            ],
        }
    ]


def test_a_one_time_password() -> None:
    """In the body and in the button, as the platform requires."""
    otp = {"type": "BUTTONS", "buttons": [{"type": "OTP", "otp_type": "COPY_CODE"}]}
    assert rendered([{"type": "BODY"}, otp], _1="123456") == [
        {"type": "body", "parameters": [text("123456")]},
        {"type": "button", "sub_type": "url", "index": "0", "parameters": [text("123456")]},
    ]


def test_a_file_of_a_header() -> None:
    """By an https URL."""
    header = {"type": "HEADER", "format": "VIDEO", "example": {"header_handle": ["4::x"]}}
    link = "https://example.com/a.mp4"
    video = {"type": "video", "video": {"link": link}}
    assert rendered([header], header=link) == [{"type": "header", "parameters": [video]}]


@pytest.mark.parametrize(
    ("components", "given", "path"),
    [
        ([BODY], {"_1": "a"}, "variableValues.2"),
        ([BODY], {"_1": "a", "_2": "b", "_3": "c"}, "variableValues.3"),
        ([HEADER], {}, "variableValues.1"),
        ([HEADER], {"header_1": "a", "_1": "b"}, "variableValues.1"),
        ([BUTTONS], {"buttons_1_1": "a"}, "variableValues.1"),
        ([BODY], {"_1": "a\tb", "_2": "c"}, "variableValues.1"),
        ([{"type": "HEADER", "format": "IMAGE"}], {"header": "http://x"}, "variableValues.header"),
        ([{"type": "HEADER", "format": "LOCATION"}], {}, "templateId"),
    ],
)
def test_invalid_values(components: list[Any], given: dict[str, str], path: str) -> None:
    """A missing one, an unknown one, an invalid one: each is named."""
    with pytest.raises(BadInput) as found:
        rendered(components, **given)
    assert found.value.path == path


def test_text_of_any_script() -> None:
    """Joined emoji and other scripts are valid texts."""
    family = "👩‍👩‍👧"
    assert rendered([HEADER], _1=family)[0]["parameters"] == [text(family)]
