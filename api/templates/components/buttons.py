"""Validates a template's buttons: their kinds, numbers and order."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from urllib.parse import urlsplit

from api.templates.components.model import (
    Button,
    Buttons,
    FlowButton,
    Otp,
    QuickReply,
    UrlButton,
)
from api.templates.components.placeholders import placeholders
from wire.decoding.errors import BadInput

MAX_BY_KIND = {"URL": 2, "PHONE_NUMBER": 1, "COPY_CODE": 1, "FLOW": 1, "VOICE_CALL": 1, "OTP": 1}


def check_buttons(component: Buttons, category: str, path: str) -> None:
    """Check a template's buttons; raises BadInput."""
    _check_counts(component.buttons, path)
    _check_groups(component.buttons, path)
    for index, button in enumerate(component.buttons):
        where = f"{path}[{index}]"
        match button:
            case UrlButton():
                _check_url(button, where)
            case FlowButton():
                _check_flow(button, where)
            case Otp():
                _check_otp(button, category, where)
            case _:
                pass  # its schema is sufficient


def _check_counts(buttons: Sequence[Button], path: str) -> None:
    for kind, count in Counter(each.__struct_config__.tag for each in buttons).items():
        maximum = MAX_BY_KIND.get(str(kind), count)
        if count > maximum:
            text = f"{maximum} of type {kind} at most, there are {count}"
            raise BadInput(path, text, "too_many_buttons")
    labels = [each.text for each in buttons if isinstance(each, QuickReply)]
    if len(set(labels)) < len(labels):
        raise BadInput(path, "two quick replies have the same text", "same_text")


def _check_groups(buttons: Sequence[Button], path: str) -> None:
    """Check that quick replies are adjacent: the platform allows no other button between them."""
    replies = [isinstance(each, QuickReply) for each in buttons]
    changes = sum(one is not other for one, other in pairwise(replies))
    if changes > 1:
        text = "quick replies stand together, before or after the other buttons"
        raise BadInput(path, text, "bad_order")


def _check_url(button: UrlButton, path: str) -> None:
    names = placeholders(button.url, "POSITIONAL", f"{path}.url")
    if names and (len(names) > 1 or not button.url.endswith("{{1}}") or button.url.count("{{") > 1):
        text = "one placeholder at most, {{1}} at the end"
        raise BadInput(f"{path}.url", text, "bad_placeholder")
    if not _is_web(button.url.removesuffix("{{1}}")):
        raise BadInput(f"{path}.url", "an https:// or http:// address is expected", "bad_url")
    if len(button.example or ()) != len(names):
        text = f"one example for each placeholder is expected ({len(names)})"
        raise BadInput(f"{path}.example", text, "examples_do_not_fit")


def _is_web(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"https", "http"} and bool(parts.hostname) and " " not in url


def _check_flow(button: FlowButton, path: str) -> None:
    references = [button.flow_id, button.flow_name, button.flow_json]
    if sum(each is not None for each in references) != 1:
        raise BadInput(path, "one of flow_id, flow_name and flow_json is expected")


def _check_otp(button: Otp, category: str, path: str) -> None:
    if category != "AUTHENTICATION":
        raise BadInput(f"{path}.type", "OTP only in templates of category AUTHENTICATION")
    if button.otp_type != "COPY_CODE" and not button.supported_apps:
        raise BadInput(f"{path}.supported_apps", f"required with otp_type {button.otp_type}")
    if button.otp_type == "ZERO_TAP" and not button.zero_tap_terms_accepted:
        raise BadInput(f"{path}.zero_tap_terms_accepted", "must be true with otp_type ZERO_TAP")
