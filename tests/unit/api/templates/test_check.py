"""A template's components: what can be right, and what is named when it can't."""

from typing import Any

import pytest

from api.templates.check import check
from api.templates.placeholders import Format
from api.templates.reading import Shortcuts, read
from wire.errors import BadInput

BODY = {"type": "BODY", "text": "Hello."}
HANDLE = {"example": {"header_handle": ["4::x"]}}
OTP = {"type": "BUTTONS", "buttons": [{"type": "OTP", "otp_type": "COPY_CODE"}]}
APP = {"package_name": "com.example", "signature_hash": "K8a"}


def fault(
    *components: Any, style: Format = "POSITIONAL", category: str = "UTILITY"
) -> tuple[str, str] | None:
    """Check components; give the fault's place and code."""
    try:
        check(read(components, Shortcuts(), style), category, style)
    except BadInput as found:
        return found.path, found.code
    return None


def body(text: str, *examples: str) -> dict[str, Any]:
    """Make a body with examples."""
    return {"type": "BODY", "text": text, "example": {"body_text": [list(examples)]}}


def named(text: str, *names: str) -> dict[str, Any]:
    """Make a body with named examples."""
    examples = [{"param_name": name, "example": "x"} for name in names]
    return {"type": "BODY", "text": text, "example": {"body_text_named_params": examples}}


def header(**fields: Any) -> dict[str, Any]:
    """Make a header."""
    return {"type": "HEADER", **fields}


def buttons(*given: dict[str, Any]) -> dict[str, Any]:
    """Make buttons."""
    return {"type": "BUTTONS", "buttons": list(given)}


def reply(text: str) -> dict[str, Any]:
    """Make a quick reply."""
    return {"type": "QUICK_REPLY", "text": text}


def url(address: str, *examples: str) -> dict[str, Any]:
    """Make a button of an address."""
    more = {"example": list(examples)} if examples else {}
    return {"type": "URL", "text": "Open", "url": address, **more}


CALL = {"type": "PHONE_NUMBER", "text": "Call", "phone_number": "+4721930000"}
COPY = {"type": "COPY_CODE", "example": "SAVE20"}
FORM = {"type": "FLOW", "text": "Book", "flow_id": "1"}


@pytest.mark.parametrize(
    "components",
    [
        [BODY],
        [body("{{1}} and {{2}}, {{1}} again", "a", "b")],
        [{"type": "BODY", "text": "{{1}} {{2}}", "example": {"body_text": ["a", "b"]}}],
        [{"type": "body", "text": "x" * 1_024}],
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
def test_what_can_be_right(components: list[Any]) -> None:
    """Every kind of component, up to its limits."""
    assert fault(*components) is None


def test_named_placeholders() -> None:
    """Each with an example of its name, in any order, and none by number."""
    text = "{{first_name}}, your order {{order_2}}"
    assert fault(named(text, "order_2", "first_name"), style="NAMED") is None
    path = "components[0].example.body_text_named_params"
    for names in ((), ("first_name",), ("first_name", "order_2", "x"), ("a", "b")):
        assert fault(named(text, *names), style="NAMED") == (path, "examples_do_not_fit")
    assert fault(named("{{1}}", "1"), style="NAMED") == ("components[0].text", "bad_placeholder")
    wrong = ("components[0].example.body_text", "invalid")
    assert fault(body("{{a}}", "x"), style="NAMED") == wrong
    wrong = ("components[0].example.body_text_named_params", "invalid")
    assert fault(named("{{1}}", "1")) == wrong


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
def test_placeholders_that_are_none(text: str, code: str) -> None:
    """Numbered from 1 without a gap, in two braces, and nothing else between them."""
    assert fault(body(text, "a")) == ("components[0].text", code)


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
        ([BODY, header(format="IMAGE", text="x", **HANDLE)], "components[1].text", "invalid"),
        ([BODY, header(format="LOCATION", **HANDLE)], "components[1].example", "invalid"),
        ([BODY, {"type": "FOOTER", "text": "{{1}}"}],
         "components[1].text", "too_many_placeholders"),
        ([BODY, {"type": "FOOTER", "text": "x" * 61}], "components[1].text", "invalid"),
        ([BODY, {"type": "FOOTER"}], "components[1].text", "invalid"),
        ([BODY, {"type": "FOOTER", "text": "x", "code_expiration_minutes": 5}],
         "components[1].code_expiration_minutes", "invalid"),
        ([BODY, buttons()], "components[1].buttons", "invalid"),
        ([BODY, buttons(*(reply(str(n)) for n in range(11)))], "components[1].buttons", "invalid"),
        ([BODY, buttons(reply("x" * 26))], "components[1].buttons[0].text", "invalid"),
        ([BODY, buttons(reply("a"), reply("a"))], "components[1].buttons", "same_text"),
        ([BODY, buttons(*[url("https://example.com")] * 3)],
         "components[1].buttons", "too_many_buttons"),
        ([BODY, buttons(CALL, CALL)], "components[1].buttons", "too_many_buttons"),
        ([BODY, buttons(COPY, COPY)], "components[1].buttons", "too_many_buttons"),
        ([BODY, buttons(reply("a"), CALL, reply("b"))], "components[1].buttons", "bad_order"),
        ([BODY, buttons(CALL, reply("a"), url("https://example.com"))],
         "components[1].buttons", "bad_order"),
        ([BODY, buttons(url("https://example.com/{{1}}"))],
         "components[1].buttons[0].example", "examples_do_not_fit"),
        ([BODY, buttons(url("https://example.com", "x"))],
         "components[1].buttons[0].example", "examples_do_not_fit"),
        ([BODY, buttons(url("https://{{1}}.example.com", "x"))],
         "components[1].buttons[0].url", "bad_placeholder"),
        ([BODY, buttons(url("https://example.com/{{2}}", "x"))],
         "components[1].buttons[0].url", "placeholder_gap"),
        ([BODY, buttons(url("javascript:alert(1)"))], "components[1].buttons[0].url", "bad_url"),
        ([BODY, buttons(url("https://[::1"))], "components[1].buttons[0].url", "bad_url"),
        ([BODY, buttons(url("https://" + "x" * 2_000))],
         "components[1].buttons[0].url", "invalid"),
        ([BODY, buttons({**CALL, "phone_number": "call me"})],
         "components[1].buttons[0].phone_number", "invalid"),
        ([BODY, buttons({**COPY, "example": "x" * 16})],
         "components[1].buttons[0].example", "invalid"),
        ([BODY, buttons({**FORM, "flow_name": "x"})], "components[1].buttons[0]", "invalid"),
        ([BODY, buttons({"type": "FLOW", "text": "x"})], "components[1].buttons[0]", "invalid"),
        ([BODY, buttons({"type": "PRAY", "text": "x"})],
         "components[1].buttons[0].type", "invalid"),
        ([BODY, buttons({"text": "x"})], "components[1].buttons[0].type", "invalid"),
        ([BODY, {"type": "BUTTONS", "buttons": {}}], "components[1].buttons", "invalid"),
        ([BODY, OTP], "components[1].buttons[0].type", "invalid"),
    ],
)  # fmt: skip
def test_what_can_not_be_right(components: list[Any], path: str, code: str) -> None:
    """Each fault has its place, counted as they were sent."""
    assert fault(*components) == (path, code)


def test_authentication_templates() -> None:
    """Their text is the platform's own; what they need is one button of type OTP."""
    plain = {"type": "BODY", "add_security_recommendation": True}
    footer = {"type": "FOOTER", "code_expiration_minutes": 10}
    tap = {"type": "OTP", "otp_type": "one_tap", "supported_apps": [APP]}
    zero = {**tap, "otp_type": "ZERO_TAP", "zero_tap_terms_accepted": True}
    for good in (
        [plain, OTP],
        [plain, footer, OTP],
        [plain, buttons(tap)],
        [plain, buttons(zero)],
    ):
        assert fault(*good, category="AUTHENTICATION") is None
    otp = "components[1].buttons[0]"
    for bad, place in (
        ([BODY, OTP], "components[0].text"),
        ([plain, header(format="LOCATION"), OTP], "components[1]"),
        ([plain, OTP, {"type": "FOOTER", "text": "x"}], "components[2].text"),
        ([plain], "components"),
        ([plain, buttons(reply("a"))], "components"),
        ([plain, buttons({"type": "OTP", "otp_type": "ONE_TAP"})], f"{otp}.supported_apps"),
        (
            [plain, buttons({**zero, "zero_tap_terms_accepted": False})],
            f"{otp}.zero_tap_terms_accepted",
        ),
    ):
        found = fault(*bad, category="AUTHENTICATION")
        assert found is not None
        assert found[0] == place
