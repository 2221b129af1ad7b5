"""The components of a template: a header, the body, a footer, buttons.

Their schemas are those of the platform's cloud API (its documentation, "Template components").
"""

import re
from typing import Annotated, Literal

from msgspec import Meta, Struct

from wire.decoding import patterns
from wire.decoding.errors import BadInput

HEADER_LENGTH, BODY_LENGTH, FOOTER_LENGTH, LABEL_LENGTH = 60, 1_024, 60, 25
URL_LENGTH, CODE_LENGTH, MAX_BUTTONS = 2_000, 15, 10
HeaderText = Annotated[str, Meta(max_length=HEADER_LENGTH, pattern=patterns.LINE)]
BodyText = Annotated[str, Meta(max_length=BODY_LENGTH, pattern=patterns.LINES)]
FooterText = Annotated[str, Meta(max_length=FOOTER_LENGTH, pattern=patterns.LINE)]
Label = Annotated[str, Meta(max_length=LABEL_LENGTH, pattern=patterns.LINE)]
Sample = Annotated[str, Meta(max_length=BODY_LENGTH, pattern=patterns.LINE)]
Handle = Annotated[str, Meta(max_length=4_096, pattern=patterns.LINE)]
Word = Annotated[str, Meta(max_length=256, pattern=patterns.LINE)]
Format = Literal["POSITIONAL", "NAMED"]
_ANY = re.compile(r"\{\{([^{}]*)\}\}")
_NUMBER = re.compile(r"[1-9][0-9]{0,2}")
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,63}")


class _Shape(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Base of the components: the platform's names, no unknown fields."""


class Named(_Shape, frozen=True):
    """An example for a named placeholder."""

    param_name: Annotated[str, Meta(min_length=1, max_length=64)]
    example: Sample


class HeaderExample(_Shape, frozen=True):
    """Examples of a header: for its placeholder, or an uploaded file."""

    header_text: tuple[Sample, ...] | None = None
    header_text_named_params: tuple[Named, ...] | None = None
    header_handle: tuple[Handle, ...] | None = None


class Header(_Shape, frozen=True, tag="HEADER"):
    """The header: a text, a file or a location."""

    format: Literal["TEXT", "IMAGE", "VIDEO", "DOCUMENT", "LOCATION"]
    text: HeaderText | None = None
    example: HeaderExample | None = None


class BodyExample(_Shape, frozen=True):
    """Examples for a body's placeholders; positional ones may be a nested list."""

    body_text: tuple[Sample | tuple[Sample, ...], ...] | None = None
    body_text_named_params: tuple[Named, ...] | None = None

    @property
    def positional(self) -> tuple[str, ...] | None:
        """The positional examples, nested or not."""
        match self.body_text:
            case None:
                return None
            case (tuple() as inner,):
                return inner
            case examples:
                return tuple(each for each in examples if isinstance(each, str))


class Body(_Shape, frozen=True, tag="BODY"):
    """The message text; an authentication template's is the platform's."""

    text: BodyText | None = None
    example: BodyExample | None = None
    add_security_recommendation: bool | None = None


class Footer(_Shape, frozen=True, tag="FOOTER"):
    """The footer; an authentication template's states how long the code is valid."""

    text: FooterText | None = None
    code_expiration_minutes: Annotated[int, Meta(ge=1, le=90)] | None = None


class QuickReply(_Shape, frozen=True, tag="QUICK_REPLY"):
    """Sends its text back."""

    text: Label


class UrlButton(_Shape, frozen=True, tag="URL"):
    """Opens a URL, which may end in a placeholder."""

    text: Label
    url: Annotated[str, Meta(min_length=8, max_length=URL_LENGTH, pattern=patterns.LINE)]
    example: tuple[Annotated[str, Meta(min_length=1, max_length=URL_LENGTH)], ...] | None = None


class PhoneButton(_Shape, frozen=True, tag="PHONE_NUMBER"):
    """Calls a number."""

    text: Label
    phone_number: Annotated[
        str, Meta(max_length=20, pattern=r"^\+?[0-9 ()\-]{4,20}" + patterns.END)
    ]


class CopyCode(_Shape, frozen=True, tag="COPY_CODE"):
    """Copies a code."""

    example: Annotated[str, Meta(max_length=CODE_LENGTH, pattern=patterns.LINE)]


class FlowButton(_Shape, frozen=True, tag="FLOW"):
    """Opens a form of the platform, referenced in one of three ways."""

    text: Label
    flow_id: Word | None = None
    flow_name: Word | None = None
    flow_json: Annotated[str, Meta(min_length=2, max_length=65_536)] | None = None
    flow_action: Literal["navigate", "data_exchange"] | None = None
    navigate_screen: Word | None = None


class VoiceCall(_Shape, frozen=True, tag="VOICE_CALL"):
    """Calls the business through the platform."""

    text: Label


class App(_Shape, frozen=True):
    """An app that receives a code."""

    package_name: Word
    signature_hash: Word


class Otp(_Shape, frozen=True, tag="OTP"):
    """Delivers a one-time password."""

    otp_type: Literal["COPY_CODE", "ONE_TAP", "ZERO_TAP"]
    text: Label | None = None
    autofill_text: Label | None = None
    supported_apps: Annotated[tuple[App, ...], Meta(min_length=1, max_length=5)] | None = None
    zero_tap_terms_accepted: bool | None = None


Button = QuickReply | UrlButton | PhoneButton | CopyCode | FlowButton | VoiceCall | Otp


class Buttons(_Shape, frozen=True, tag="BUTTONS"):
    """The buttons below the message."""

    buttons: Annotated[tuple[Button, ...], Meta(min_length=1, max_length=MAX_BUTTONS)]


Component = Header | Body | Footer | Buttons


def placeholders(text: str, style: Format, path: str) -> tuple[str, ...]:
    """Return a text's distinct placeholders: numbers in order, names in their order of appearance.

    Raises BadInput for an invalid placeholder, and for a gap.
    """
    names = tuple(dict.fromkeys(_ANY.findall(text)))
    rest = _ANY.sub("", text)
    if "{{" in rest or "}}" in rest:
        raise BadInput(
            path, "a placeholder that does not end, or does not begin", "bad_placeholder"
        )
    allowed, example = (_NUMBER, "{{1}}") if style == "POSITIONAL" else (_NAME, "{{order_number}}")
    for name in names:
        if not allowed.fullmatch(name):
            text = f"{{{{{name[:64]}}}}} is no placeholder of format {style}, such as {example}"
            raise BadInput(path, text, "bad_placeholder")
    return names if style == "NAMED" else _without_gaps(names, path)


def _without_gaps(names: tuple[str, ...], path: str) -> tuple[str, ...]:
    expected = tuple(str(number) for number in range(1, len(names) + 1))
    missing = next((number for number in expected if number not in names), None)
    if missing:
        text = f"placeholders are numbered from 1 without gaps: {{{{{missing}}}}} is missing"
        raise BadInput(path, text, "placeholder_gap")
    return expected


def substitute(text: str, values: dict[str, str]) -> str:
    """Replace placeholders by their values."""
    return _ANY.sub(lambda match: values[match[1]], text)
