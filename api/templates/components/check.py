"""Validates a template's components before they are sent to the platform.

The rules are those of its documentation ("Template components", "Authentication templates");
whether a text is acceptable, the platform alone decides.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from urllib.parse import urlsplit

from api.templates.components import model
from api.templates.components.parser import LocatedComponent
from wire.decoding.errors import BadInput

MAX_BY_KIND = {"URL": 2, "PHONE_NUMBER": 1, "COPY_CODE": 1, "FLOW": 1, "VOICE_CALL": 1, "OTP": 1}


def check(components: Sequence[LocatedComponent], category: str, style: model.Format) -> None:
    """Check a template's components; raises BadInput."""
    if not any(isinstance(each, model.Body) for _, each in components):
        raise BadInput("components", "a BODY is required", "no_body")
    if category == "AUTHENTICATION":
        _check_authentication(components)
    for path, each in components:
        match each:
            case model.Header():
                _check_header(each, style, path)
            case model.Body() if category != "AUTHENTICATION":
                _check_body(each, style, path)
            case model.Footer() if category != "AUTHENTICATION":
                _check_footer(each, path)
            case model.Buttons():
                check_buttons(each, category, f"{path}.buttons")
            case _:
                pass  # the texts of an authentication template are the platform's


def _check_header(header: model.Header, style: model.Format, path: str) -> None:
    example = header.example or model.HeaderExample()
    if header.format == "TEXT":
        _check_header_text(header, example, style, path)
    else:
        _check_header_media(header, example, path)


def _check_header_media(header: model.Header, example: model.HeaderExample, path: str) -> None:
    if header.text is not None or example.header_text or example.header_text_named_params:
        raise BadInput(f"{path}.text", f"not in a header of format {header.format}")
    if header.format == "LOCATION":
        if header.example is not None:
            raise BadInput(f"{path}.example", "not in a header of format LOCATION")
    elif len(example.header_handle or ()) != 1:
        text = "one file is required: upload it, and give its handle"
        raise BadInput(f"{path}.example.header_handle", text, "example_required")


def _check_header_text(
    header: model.Header, example: model.HeaderExample, style: model.Format, path: str
) -> None:
    if header.text is None:
        raise BadInput(f"{path}.text", "required in a header of format TEXT")
    if example.header_handle is not None:
        raise BadInput(f"{path}.example.header_handle", "not in a header of format TEXT")
    names = model.placeholders(header.text, style, f"{path}.text")
    if len(names) > 1:
        text = f"a header has one placeholder at most, this one {len(names)}"
        raise BadInput(f"{path}.text", text, "too_many_placeholders")
    examples = example.header_text, example.header_text_named_params
    _check_examples(names, style, *examples, f"{path}.example.header_text")


def _check_body(body: model.Body, style: model.Format, path: str) -> None:
    if body.text is None:
        raise BadInput(f"{path}.text", "required")
    if body.add_security_recommendation is not None:
        where = f"{path}.add_security_recommendation"
        raise BadInput(where, "only in templates of category AUTHENTICATION")
    names = model.placeholders(body.text, style, f"{path}.text")
    positional = body.example.positional if body.example else None
    named = body.example.body_text_named_params if body.example else None
    _check_examples(names, style, positional, named, f"{path}.example.body_text")


def _check_footer(footer: model.Footer, path: str) -> None:
    if footer.code_expiration_minutes is not None:
        where = f"{path}.code_expiration_minutes"
        raise BadInput(where, "only in templates of category AUTHENTICATION")
    if footer.text is None:
        raise BadInput(f"{path}.text", "required")
    if "{{" in footer.text or "}}" in footer.text:
        raise BadInput(f"{path}.text", "a footer has no placeholders", "too_many_placeholders")


def _check_authentication(components: Sequence[LocatedComponent]) -> None:
    """Check an authentication template: its text is the platform's, its button is required."""
    has_otp = False
    for path, each in components:
        match each:
            case model.Header():
                raise BadInput(path, "no header in a template of category AUTHENTICATION")
            case model.Body(text=str()) | model.Footer(text=str()):
                text = "the platform's own in a template of category AUTHENTICATION"
                raise BadInput(f"{path}.text", text)
            case model.Buttons(buttons=(model.Otp(),)):
                has_otp = True
            case _:
                pass
    if not has_otp:
        text = "a template of category AUTHENTICATION has one button, of type OTP"
        raise BadInput("components", text, "otp_required")


def _check_examples(
    names: tuple[str, ...],
    style: model.Format,
    positional: tuple[str, ...] | None,
    named: tuple[model.Named, ...] | None,
    path: str,
) -> None:
    """Check that there is an example for each placeholder, in the template's format."""
    by_name = [each.param_name for each in named or ()]
    named_path = f"{path}_named_params"
    if style == "NAMED":
        has_other, where, count = positional is not None, named_path, len(by_name)
        is_complete, other = sorted(by_name) == sorted(names), path
    else:
        has_other, where, count = named is not None, path, len(positional or ())
        is_complete, other = count == len(names), named_path
    if has_other:
        raise BadInput(other, f"not in a template of format {style}")
    if not is_complete:
        expected = ", ".join(f"{{{{{each}}}}}" for each in names) or "none"
        text = f"one example for each placeholder is expected ({expected}), there are {count}"
        raise BadInput(where, text, "examples_do_not_fit")


def check_buttons(component: model.Buttons, category: str, path: str) -> None:
    """Check a template's buttons; raises BadInput."""
    _check_counts(component.buttons, path)
    _check_groups(component.buttons, path)
    for index, button in enumerate(component.buttons):
        where = f"{path}[{index}]"
        match button:
            case model.UrlButton():
                _check_url(button, where)
            case model.FlowButton():
                _check_flow(button, where)
            case model.Otp():
                _check_otp(button, category, where)
            case _:
                pass  # its schema is sufficient


def _check_counts(buttons: Sequence[model.Button], path: str) -> None:
    for kind, count in Counter(each.__struct_config__.tag for each in buttons).items():
        maximum = MAX_BY_KIND.get(str(kind), count)
        if count > maximum:
            text = f"{maximum} of type {kind} at most, there are {count}"
            raise BadInput(path, text, "too_many_buttons")
    labels = [each.text for each in buttons if isinstance(each, model.QuickReply)]
    if len(set(labels)) < len(labels):
        raise BadInput(path, "two quick replies have the same text", "same_text")


def _check_groups(buttons: Sequence[model.Button], path: str) -> None:
    """Check that quick replies are adjacent: the platform allows no other button between them."""
    replies = [isinstance(each, model.QuickReply) for each in buttons]
    changes = sum(one is not other for one, other in pairwise(replies))
    if changes > 1:
        text = "quick replies stand together, before or after the other buttons"
        raise BadInput(path, text, "bad_order")


def _check_url(button: model.UrlButton, path: str) -> None:
    names = model.placeholders(button.url, "POSITIONAL", f"{path}.url")
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


def _check_flow(button: model.FlowButton, path: str) -> None:
    references = [button.flow_id, button.flow_name, button.flow_json]
    if sum(each is not None for each in references) != 1:
        raise BadInput(path, "one of flow_id, flow_name and flow_json is expected")


def _check_otp(button: model.Otp, category: str, path: str) -> None:
    if category != "AUTHENTICATION":
        raise BadInput(f"{path}.type", "OTP only in templates of category AUTHENTICATION")
    if button.otp_type != "COPY_CODE" and not button.supported_apps:
        raise BadInput(f"{path}.supported_apps", f"required with otp_type {button.otp_type}")
    if button.otp_type == "ZERO_TAP" and not button.zero_tap_terms_accepted:
        raise BadInput(f"{path}.zero_tap_terms_accepted", "must be true with otp_type ZERO_TAP")
