"""A template filled in: the components of one message, as the platform's cloud API wants them.

Values are named as the specification has it: `1`, `2`, … or a placeholder's name. What a header or
a button needs may be named by its place: `header.1`, `buttons.0.1`; else it is that of the same
name. A header's file is `header`, an https address.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from api.templates.components import (
    BODY_LENGTH,
    Body,
    Buttons,
    Component,
    CopyCode,
    Header,
    Otp,
    UrlButton,
)
from api.templates.placeholders import Format, placeholders, substitute
from wire.errors import BadInput

CODE = "1"  # the one value of an authentication template
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
TOO_MANY_SPACES = (
    " " * 5
)  # its documentation, error 132018: no line feed, no tab, no more than four


class Values:
    """What is given, and what of it was used."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = given
        self._unused = set(given)

    def take(self, *names: str) -> str:
        """Give the value of the first name that has one; raises BadInput if none has."""
        for name in names:
            if name in self._given:
                self._unused.discard(name)
                return _checked(self._given[name], f"variableValues.{name}")
        raise BadInput(f"variableValues.{names[-1]}", "required by the template", "value_missing")

    def end(self) -> None:
        """Check that all was used; raises BadInput."""
        for name in sorted(self._unused):
            raise BadInput(f"variableValues.{name}", "the template has no such placeholder")


def render(
    components: Sequence[Component], style: Format, given: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Give the components of a message; raises BadInput for a value missing or too many."""
    values, made = Values(given), list[dict[str, Any]]()
    for each in components:
        match each:
            case Header():
                made += _header(each, style, values)
            case Body():
                made += _body(each, style, values)
            case Buttons():
                made += _buttons(each, values)
            case _:
                pass  # a footer has nothing to fill in
    values.end()
    return made


def _header(header: Header, style: Format, values: Values) -> Iterator[dict[str, Any]]:
    if header.format == "LOCATION":
        text = "a template with a place in its header can't be sent as a test"
        raise BadInput("templateId", text, "not_testable")
    if header.format == "TEXT":
        names = placeholders(header.text or "", style, "templateId")
        made = [_text(name, values.take(f"header.{name}", name), style) for name in names]
    else:
        kind = header.format.lower()
        file: dict[str, Any] = {"type": kind, kind: {"link": _link(values.take("header"))}}
        made = [file]
    if made:
        yield {"type": "header", "parameters": made}


def _body(body: Body, style: Format, values: Values) -> Iterator[dict[str, Any]]:
    if body.text is None:
        yield {"type": "body", "parameters": [_text(CODE, values.take(CODE), "POSITIONAL")]}
        return
    names = placeholders(body.text, style, "templateId")
    taken = {name: values.take(name) for name in names}
    if len(substitute(body.text, taken)) > BODY_LENGTH:
        text = f"the body is longer than {BODY_LENGTH} characters with these values"
        raise BadInput("variableValues", text, "too_long")
    if names:
        made = [_text(name, each, style) for name, each in taken.items()]
        yield {"type": "body", "parameters": made}


def _buttons(buttons: Buttons, values: Values) -> Iterator[dict[str, Any]]:
    for place, button in enumerate(buttons.buttons):
        names = (f"buttons.{place}.1", CODE)
        match button:
            case UrlButton(url=url) if url.endswith("{{1}}"):
                yield _button("url", place, {"type": "text", "text": values.take(*names)})
            case Otp():  # which is sent as the button of an address (its documentation)
                yield _button("url", place, {"type": "text", "text": values.take(*names)})
            case CopyCode():
                code = values.take(*names)
                yield _button("copy_code", place, {"type": "coupon_code", "coupon_code": code})
            case _:
                pass  # nothing in it changes


def _button(kind: str, place: int, parameter: dict[str, str]) -> dict[str, Any]:
    return {"type": "button", "sub_type": kind, "index": str(place), "parameters": [parameter]}


def _text(name: str, value: str, style: Format) -> dict[str, Any]:
    named = {"parameter_name": name} if style == "NAMED" else {}
    return {"type": "text", **named, "text": value}


def _link(url: str) -> str:
    if not url.startswith("https://"):
        raise BadInput("variableValues.header", "the https:// address of the header's file")
    return url


def _checked(value: str, path: str) -> str:
    if not value or _CONTROL.search(value) or TOO_MANY_SPACES in value:
        text = "expected a text on one line, with at most four spaces together"
        raise BadInput(path, text)
    return value
