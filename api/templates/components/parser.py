"""Parses components: objects, or strings that contain them as JSON; in any order and case.

Customers may send strings; the platform's API has objects.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from api.templates.components import model
from wire.decoding.errors import BadInput, from_decoder

RawComponent = str | dict[str, Any]
LocatedComponent = tuple[str, model.Component]  # with its path in the request
ORDER: tuple[type[Any], ...] = (model.Header, model.Body, model.Footer, model.Buttons)
_UPPER_CASE = ("type", "format", "otp_type")  # of the platform, which accepts either case


class Shortcuts(Struct, frozen=True):
    """Texts that replace a component each; a placeholder's name is also its example."""

    header: str | None = None
    body: str | None = None
    footer: str | None = None

    @property
    def names(self) -> frozenset[str]:
        """The names of the components that have a text; a list of names may contain them."""
        return frozenset(name for name, text in asdict(self).items() if text is not None)

    def components(self, style: model.Format) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the components, each with the name of its field."""
        if self.header is not None:
            header = {"type": "HEADER", "format": "TEXT", "text": self.header}
            yield "headerText", header | _examples("headerText", self.header, style)
        if self.body is not None:
            body = {"type": "BODY", "text": self.body}
            yield "bodyText", body | _examples("bodyText", self.body, style)
        if self.footer is not None:
            yield "footerText", {"type": "FOOTER", "text": self.footer}


def parse_components(
    raw: Sequence[RawComponent], shortcuts: Shortcuts, style: model.Format
) -> tuple[LocatedComponent, ...]:
    """Parse all components, in the order of a message; raises BadInput for two of one type."""
    by_type: dict[type[Any], LocatedComponent] = {}
    named = shortcuts.names
    listed = [
        (f"components[{index}]", _document(each, index))
        for index, each in enumerate(raw)
        if not (isinstance(each, str) and each.strip().lower() in named)
    ]
    for path, document in (*listed, *shortcuts.components(style)):
        component = parse_component(document, path)
        if type(component) in by_type:
            kind = str(document["type"]).upper()
            raise BadInput(path, f"there is a component {kind} already", "two_of_a_kind")
        by_type[type(component)] = (path, component)
    return tuple(by_type[kind] for kind in ORDER if kind in by_type)


def to_documents(components: Sequence[model.Component]) -> list[dict[str, Any]]:
    """Convert components to the JSON objects that are stored and sent."""
    documents: list[dict[str, Any]] = msgspec.json.decode(msgspec.json.encode(components))
    return documents


def parse_component(document: Mapping[str, Any], path: str) -> model.Component:
    """Parse one component; raises BadInput."""
    upper = _upper_cased(document)
    buttons = upper.get("buttons")
    if isinstance(buttons, list):
        upper["buttons"] = [
            _upper_cased(each) if isinstance(each, dict) else each for each in buttons
        ]
    try:
        component: model.Component = msgspec.convert(upper, model.Component)
    except msgspec.ValidationError as error:
        raise from_decoder(error, path, model.Component, upper) from None
    return component


def _document(raw: RawComponent, index: int) -> dict[str, Any]:
    if isinstance(raw, dict):
        return raw
    try:
        return msgspec.json.decode(raw, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        text = "expected an object, a text with one as JSON, or the name of a text that is given"
        raise BadInput(f"components[{index}]", text) from None


def _examples(field: str, text: str, style: model.Format) -> dict[str, Any]:
    names = model.placeholders(text, style, field)
    kind = field.removesuffix("Text") + "_text"
    if not names:
        return {}
    if style == "NAMED":
        examples = [{"param_name": name, "example": name} for name in names]
        return {"example": {f"{kind}_named_params": examples}}
    return {"example": {kind: list(names) if kind == "header_text" else [list(names)]}}


def _upper_cased(document: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: each.upper() if name in _UPPER_CASE and isinstance(each, str) else each
        for name, each in document.items()
    }
