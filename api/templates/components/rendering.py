"""Renders a template: the components of one message in the form of the platform's cloud API.

Values are named: `1`, `2`, … or a placeholder's name. Values of a header or
a button may be named by position: `header.1`, `buttons.0.1`; otherwise the body's value of the same
name is used. A header's file is `header`, an https URL.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from api.templates.components import model
from wire.decoding.errors import BadInput

CODE = "1"  # the one value of an authentication template
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# Its documentation, error 132018: no line feed, no tab, at most four consecutive spaces.
TOO_MANY_SPACES = " " * 5


class Values:
    """The values of a request, and which of them are not used yet."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self._unused = set(values)

    def take(self, *names: str) -> str:
        """Return the value of the first name that has one; raises BadInput."""
        for name in names:
            if name in self._values:
                self._unused.discard(name)
                return _validate(self._values[name], f"variableValues.{name}")
        raise BadInput(f"variableValues.{names[-1]}", "required by the template", "value_missing")

    def check_all_used(self) -> None:
        """Check that no value is left; raises BadInput."""
        for name in sorted(self._unused):
            raise BadInput(f"variableValues.{name}", "the template has no such placeholder")


def render(
    components: Sequence[model.Component], style: model.Format, variable_values: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the components of a message; raises BadInput for missing and unknown values."""
    values, rendered = Values(variable_values), list[dict[str, Any]]()
    for each in components:
        match each:
            case model.Header():
                rendered += _header(each, style, values)
            case model.Body():
                rendered += _body(each, style, values)
            case model.Buttons():
                rendered += _buttons(each, values)
            case _:
                pass  # a footer has no placeholders
    values.check_all_used()
    return rendered


def _header(header: model.Header, style: model.Format, values: Values) -> Iterator[dict[str, Any]]:
    if header.format == "LOCATION":
        text = "a template with a place in its header can't be sent as a test"
        raise BadInput("templateId", text, "not_testable")
    if header.format == "TEXT":
        names = model.placeholders(header.text or "", style, "templateId")
        parameters = [_text(name, values.take(f"header.{name}", name), style) for name in names]
    else:
        kind = header.format.lower()
        file: dict[str, Any] = {"type": kind, kind: {"link": _link(values.take("header"))}}
        parameters = [file]
    if parameters:
        yield {"type": "header", "parameters": parameters}


def _body(body: model.Body, style: model.Format, values: Values) -> Iterator[dict[str, Any]]:
    if body.text is None:
        yield {"type": "body", "parameters": [_text(CODE, values.take(CODE), "POSITIONAL")]}
        return
    names = model.placeholders(body.text, style, "templateId")
    texts = {name: values.take(name) for name in names}
    if len(model.substitute(body.text, texts)) > model.BODY_LENGTH:
        text = f"the body is longer than {model.BODY_LENGTH} characters with these values"
        raise BadInput("variableValues", text, "too_long")
    if names:
        parameters = [_text(name, each, style) for name, each in texts.items()]
        yield {"type": "body", "parameters": parameters}


def _buttons(buttons: model.Buttons, values: Values) -> Iterator[dict[str, Any]]:
    for index, button in enumerate(buttons.buttons):
        names = (f"buttons.{index}.1", CODE)
        match button:
            case model.UrlButton(url=url) if url.endswith("{{1}}"):
                yield _button("url", index, {"type": "text", "text": values.take(*names)})
            case model.Otp():  # is sent as a URL button (its documentation)
                yield _button("url", index, {"type": "text", "text": values.take(*names)})
            case model.CopyCode():
                code = values.take(*names)
                yield _button("copy_code", index, {"type": "coupon_code", "coupon_code": code})
            case _:
                pass  # has no placeholders


def _button(kind: str, index: int, parameter: dict[str, str]) -> dict[str, Any]:
    return {"type": "button", "sub_type": kind, "index": str(index), "parameters": [parameter]}


def _text(name: str, value: str, style: model.Format) -> dict[str, Any]:
    named = {"parameter_name": name} if style == "NAMED" else {}
    return {"type": "text", **named, "text": value}


def _link(url: str) -> str:
    if not url.startswith("https://"):
        raise BadInput("variableValues.header", "the https:// address of the header's file")
    return url


def _validate(value: str, path: str) -> str:
    if not value or _CONTROL.search(value) or TOO_MANY_SPACES in value:
        text = "expected a text on one line, with at most four consecutive spaces"
        raise BadInput(path, text)
    return value
