"""The components of a template: a header, the body, a footer, buttons.

They are as the platform's cloud API has them (its documentation, "Template components").
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from wire import patterns

HEADER_LENGTH, BODY_LENGTH, FOOTER_LENGTH, LABEL_LENGTH = 60, 1_024, 60, 25
URL_LENGTH, CODE_LENGTH, MAX_BUTTONS = 2_000, 15, 10

HeaderText = Annotated[str, Meta(max_length=HEADER_LENGTH, pattern=patterns.LINE)]
BodyText = Annotated[str, Meta(max_length=BODY_LENGTH, pattern=patterns.LINES)]
FooterText = Annotated[str, Meta(max_length=FOOTER_LENGTH, pattern=patterns.LINE)]
Label = Annotated[str, Meta(max_length=LABEL_LENGTH, pattern=patterns.LINE)]
Sample = Annotated[str, Meta(max_length=BODY_LENGTH, pattern=patterns.LINE)]
Handle = Annotated[str, Meta(max_length=4_096, pattern=patterns.LINE)]
Word = Annotated[str, Meta(max_length=256, pattern=patterns.LINE)]


class _Shape(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Frozen, as the platform spells it, nothing unknown."""


class Named(_Shape, frozen=True):
    """An example for a named placeholder."""

    param_name: Annotated[str, Meta(min_length=1, max_length=64)]
    example: Sample


class HeaderExample(_Shape, frozen=True):
    """Examples of a header: for its placeholder, or a file that was uploaded."""

    header_text: tuple[Sample, ...] | None = None
    header_text_named_params: tuple[Named, ...] | None = None
    header_handle: tuple[Handle, ...] | None = None


class Header(_Shape, frozen=True, tag="HEADER"):
    """What stands above: a text, a file or a place."""

    format: Literal["TEXT", "IMAGE", "VIDEO", "DOCUMENT", "LOCATION"]
    text: HeaderText | None = None
    example: HeaderExample | None = None


class BodyExample(_Shape, frozen=True):
    """Examples for a body's placeholders; positional ones also as a list in a list."""

    body_text: tuple[Sample | tuple[Sample, ...], ...] | None = None
    body_text_named_params: tuple[Named, ...] | None = None

    @property
    def positional(self) -> tuple[str, ...] | None:
        """Give positional examples, however they are nested."""
        match self.body_text:
            case None:
                return None
            case (tuple() as inner,):
                return inner
            case given:
                return tuple(each for each in given if isinstance(each, str))


class Body(_Shape, frozen=True, tag="BODY"):
    """The message itself; that of an authentication template is the platform's."""

    text: BodyText | None = None
    example: BodyExample | None = None
    add_security_recommendation: bool | None = None


class Footer(_Shape, frozen=True, tag="FOOTER"):
    """What stands below; that of an authentication template says how long a code is good."""

    text: FooterText | None = None
    code_expiration_minutes: Annotated[int, Meta(ge=1, le=90)] | None = None


class QuickReply(_Shape, frozen=True, tag="QUICK_REPLY"):
    """Sends its text back."""

    text: Label


class UrlButton(_Shape, frozen=True, tag="URL"):
    """Opens an address, which may end in a placeholder."""

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
    """Opens a form of the platform's, named in one of three ways."""

    text: Label
    flow_id: Word | None = None
    flow_name: Word | None = None
    flow_json: Annotated[str, Meta(min_length=2, max_length=65_536)] | None = None
    flow_action: Literal["navigate", "data_exchange"] | None = None
    navigate_screen: Word | None = None


class VoiceCall(_Shape, frozen=True, tag="VOICE_CALL"):
    """Calls the business over the platform."""

    text: Label


class App(_Shape, frozen=True):
    """An app that a code is handed to."""

    package_name: Word
    signature_hash: Word


class Otp(_Shape, frozen=True, tag="OTP"):
    """Hands a one-time password over."""

    otp_type: Literal["COPY_CODE", "ONE_TAP", "ZERO_TAP"]
    text: Label | None = None
    autofill_text: Label | None = None
    supported_apps: Annotated[tuple[App, ...], Meta(min_length=1, max_length=5)] | None = None
    zero_tap_terms_accepted: bool | None = None


Button = QuickReply | UrlButton | PhoneButton | CopyCode | FlowButton | VoiceCall | Otp


class Buttons(_Shape, frozen=True, tag="BUTTONS"):
    """What can be tapped."""

    buttons: Annotated[tuple[Button, ...], Meta(min_length=1, max_length=MAX_BUTTONS)]


Component = Header | Body | Footer | Buttons
