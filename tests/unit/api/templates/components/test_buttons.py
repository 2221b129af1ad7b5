"""Validation of a template's buttons, also those of authentication templates."""

from typing import Any

import pytest

from tests.unit.api.templates.components.inputs import (
    APP,
    BODY,
    CALL,
    COPY,
    FORM,
    OTP,
    buttons,
    error_of,
    header,
    reply,
    url,
)


@pytest.mark.parametrize(
    ("components", "path", "code"),
    [
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
        ([BODY, buttons(url("https://example.com/{{1}}/{{1}}", "x"))],
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
def test_invalid_buttons(components: list[Any], path: str, code: str) -> None:
    """Each error has its path, with the index of the request."""
    assert error_of(*components) == (path, code)


def test_authentication_templates() -> None:
    """Their text is the platform's; they need one button of type OTP."""
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
        assert error_of(*good, category="AUTHENTICATION") is None
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
        found = error_of(*bad, category="AUTHENTICATION")
        assert found is not None
        assert found[0] == place
