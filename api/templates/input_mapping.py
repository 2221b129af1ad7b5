"""What is asked for, checked and put as it is kept, and as the platform wants it."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from api.templates.check import check
from api.templates.component_parser import RawComponent, Shortcuts, parse_components, to_documents
from api.templates.components import Body, Footer, Header
from api.templates.placeholders import Format
from api.templates.schemas import NewTemplate, TemplateChange
from api.templates.store import Template
from wire.errors import BadInput

Columns = dict[str, Any]
SHORTCUTS = frozenset({"headerText", "bodyText", "footerText"})
CONTENT = frozenset(
    {
        "category",
        "sub_category",
        "parameter_format",
        "is_primary_device_delivery_only",
        "components",
    }
)
_SIMPLE = ("category", "sub_category", "parameter_format", "is_primary_device_delivery_only")


def draft_columns(asked: NewTemplate) -> Columns:
    """Give the columns of a new template; raises BadInput for components that can't be right."""
    shortcuts = Shortcuts(asked.header_text, asked.body_text, asked.footer_text)
    given = asked.components or []
    return {
        **_named(asked),
        "components": _checked(given, shortcuts, asked.category, asked.parameter_format),
    }


def link_columns(asked: NewTemplate) -> Columns:
    """Give the columns of one that is on the platform already; its content is what it is there."""
    return {**_named(asked), "platform_template_id": asked.platform_template_id, "components": []}


def changed_columns(template: Template, asked: TemplateChange) -> Columns:
    """Give the columns that a change gives new values; raises BadInput."""
    _check_same(template, asked)
    given = {name: getattr(asked, name) for name in (*_SIMPLE, "phone_number_id")}
    given = {name: each for name, each in given.items() if each is not UNSET}
    whole = {name: given.get(name, getattr(template, name)) for name in _SIMPLE}
    if _names_content(asked) or CONTENT & given.keys():
        left, shortcuts = _left(template, asked)
        style: Format = whole["parameter_format"]
        given["components"] = _checked(left, shortcuts, whole["category"], style)
    return {name: each for name, each in given.items() if each != getattr(template, name)}


def to_platform(columns: Columns) -> dict[str, Any]:
    """Put a template as the platform wants it made."""
    names = ("name", "language", "category", "sub_category", "parameter_format", "components")
    wish = {name: columns[name] for name in names if columns[name] is not None}
    if columns["is_primary_device_delivery_only"]:
        wish["is_primary_device_delivery_only"] = True
    return wish


def _named(asked: NewTemplate) -> Columns:
    names = ("name", "language", "phone_number_id", *_SIMPLE)
    return {name: getattr(asked, name) for name in names}


def _check_same(template: Template, asked: TemplateChange) -> None:
    for name in ("name", "language"):
        if getattr(asked, name) not in {UNSET, getattr(template, name)}:
            raise BadInput(name, "can't be changed: the platform names a template by it")


def _names_content(asked: TemplateChange) -> bool:
    named = (asked.components, asked.header_text, asked.body_text, asked.footer_text)
    return any(each is not UNSET for each in named)


def _left(template: Template, asked: TemplateChange) -> tuple[list[RawComponent], Shortcuts]:
    """Tell which components stay or are given, and which a text stands for."""
    texts = {Header: asked.header_text, Body: asked.body_text, Footer: asked.footer_text}
    replaced = {kind.__struct_config__.tag for kind, each in texts.items() if each is not UNSET}
    given = [text if isinstance(text, str) else None for text in texts.values()]
    if not isinstance(asked.components, msgspec.UnsetType):
        return asked.components, Shortcuts(*given)
    left: list[RawComponent] = [
        each for each in template.components if each.get("type") not in replaced
    ]
    return left, Shortcuts(*given)


def _checked(
    given: Sequence[RawComponent], shortcuts: Shortcuts, category: str, style: Format
) -> list[dict[str, Any]]:
    try:
        placed = parse_components(given, shortcuts, style)
        check(placed, category, style)
    except BadInput as fault:
        root = fault.path.partition(".")[0]
        if root not in SHORTCUTS:
            raise
        raise BadInput(root, fault.message, fault.code) from None
    return to_documents([component for _, component in placed])
