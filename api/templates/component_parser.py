"""Components as they are sent: objects, or texts that hold their JSON; in any order, any case.

The specification has them as texts; the platform, and most who know it, as objects.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from api.templates.components import Body, Buttons, Component, Footer, Header
from api.templates.placeholders import Format, placeholders
from wire.errors import BadInput, from_decoder

RawComponent = str | dict[str, Any]
LocatedComponent = tuple[str, Component]  # the path that names it to who sent it
ORDER: tuple[type[Any], ...] = (Header, Body, Footer, Buttons)
_LOUD = ("type", "format", "otp_type")  # the platform's words, which it takes in either case


class Shortcuts(Struct, frozen=True):
    """Texts that stand for a component each; an example of a placeholder is then its name."""

    header: str | None = None
    body: str | None = None
    footer: str | None = None

    def components(self, style: Format) -> Iterator[tuple[str, dict[str, Any]]]:
        """Give the components that are meant, each with the field that names it."""
        if self.header is not None:
            header = {"type": "HEADER", "format": "TEXT", "text": self.header}
            yield "headerText", header | _examples("headerText", self.header, style)
        if self.body is not None:
            body = {"type": "BODY", "text": self.body}
            yield "bodyText", body | _examples("bodyText", self.body, style)
        if self.footer is not None:
            yield "footerText", {"type": "FOOTER", "text": self.footer}


def parse_components(
    given: Sequence[RawComponent], shortcuts: Shortcuts, style: Format
) -> tuple[LocatedComponent, ...]:
    """Read all components, in the order of a message; raises BadInput for two of a kind."""
    found: dict[type[Any], LocatedComponent] = {}
    named = [(f"components[{place}]", _document(each, place)) for place, each in enumerate(given)]
    for path, document in (*named, *shortcuts.components(style)):
        component = component_of(document, path)
        if type(component) in found:
            kind = str(document["type"]).upper()
            raise BadInput(path, f"there is a component {kind} already", "two_of_a_kind")
        found[type(component)] = (path, component)
    return tuple(found[kind] for kind in ORDER if kind in found)


def to_documents(components: Sequence[Component]) -> list[dict[str, Any]]:
    """Give components as they are kept and sent."""
    kept: list[dict[str, Any]] = msgspec.json.decode(msgspec.json.encode(components))
    return kept


def component_of(document: Mapping[str, Any], path: str) -> Component:
    """Read one component; raises BadInput."""
    loud = _louder(document)
    buttons = loud.get("buttons")
    if isinstance(buttons, list):
        loud["buttons"] = [_louder(each) if isinstance(each, dict) else each for each in buttons]
    try:
        return msgspec.convert(loud, Component)  # type: ignore[no-any-return]  # a union
    except msgspec.ValidationError as error:
        raise from_decoder(error, path, Component, loud) from None


def _document(given: RawComponent, place: int) -> dict[str, Any]:
    if isinstance(given, dict):
        return given
    try:
        return msgspec.json.decode(given, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        text = "expected a component: an object, or a text that holds one as JSON"
        raise BadInput(f"components[{place}]", text) from None


def _examples(field: str, text: str, style: Format) -> dict[str, Any]:
    names = placeholders(text, style, field)
    kind = field.removesuffix("Text") + "_text"
    if not names:
        return {}
    if style == "NAMED":
        named = [{"param_name": name, "example": name} for name in names]
        return {"example": {f"{kind}_named_params": named}}
    return {"example": {kind: list(names) if kind == "header_text" else [list(names)]}}


def _louder(document: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: each.upper() if name in _LOUD and isinstance(each, str) else each
        for name, each in document.items()
    }
