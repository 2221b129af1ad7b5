"""Maps requests to validated columns, and columns to the platform's requests."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from api.templates.components.check import check
from api.templates.components.model import Body, Footer, Format, Header
from api.templates.components.parser import RawComponent, Shortcuts, parse_components, to_documents
from api.templates.schemas import NewTemplate, TemplateChange
from api.templates.store import Template
from wire.decoding.errors import BadInput

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


def draft_columns(body: NewTemplate) -> Columns:
    """Return the columns of a new template; raises BadInput for invalid components."""
    shortcuts = Shortcuts(body.header_text, body.body_text, body.footer_text)
    columns = _base_columns(body)
    raw, style = body.components or [], body.parameter_format
    return {**columns, "components": _validated(raw, shortcuts, columns["category"], style)}


def link_columns(body: NewTemplate) -> Columns:
    """Return the columns of a template that exists on the platform, which has its content."""
    return {
        **_base_columns(body),
        "platform_template_id": body.platform_template_id,
        "components": [],
    }


def changed_columns(template: Template, body: TemplateChange) -> Columns:
    """Return the columns whose values a change replaces; raises BadInput."""
    _check_unchanged(template, body)
    fields = {name: getattr(body, name) for name in (*_SIMPLE, "phone_number_id")}
    changes = {name: _spelt(name, each) for name, each in fields.items() if each is not UNSET}
    merged = {name: changes.get(name, getattr(template, name)) for name in _SIMPLE}
    if _changes_content(body) or CONTENT & changes.keys():
        raw, shortcuts = _merged(template, body)
        style: Format = merged["parameter_format"]
        changes["components"] = _validated(raw, shortcuts, merged["category"], style)
    return {name: each for name, each in changes.items() if each != getattr(template, name)}


def to_platform(columns: Columns) -> dict[str, Any]:
    """Return the platform's request that creates a template."""
    names = ("name", "language", "category", "sub_category", "parameter_format", "components")
    request = {name: columns[name] for name in names if columns[name] is not None}
    if columns["is_primary_device_delivery_only"]:
        request["is_primary_device_delivery_only"] = True
    return request


def _base_columns(body: NewTemplate) -> Columns:
    names = ("name", "language", "phone_number_id", *_SIMPLE)
    return {name: _spelt(name, getattr(body, name)) for name in names}


def _spelt(name: str, value: Any) -> Any:
    """Return a value as the platform spells it: en_US, MARKETING."""
    if not isinstance(value, str):
        return value
    if name in {"category", "sub_category"}:
        return value.upper()
    if name == "language":
        language, _, country = value.replace("-", "_").partition("_")
        return f"{language}_{country.upper()}" if country else language
    return value


def _check_unchanged(template: Template, body: TemplateChange) -> None:
    for name in ("name", "language"):
        if _spelt(name, getattr(body, name)) not in {UNSET, getattr(template, name)}:
            raise BadInput(name, "can't be changed: the platform names a template by it")


def _changes_content(body: TemplateChange) -> bool:
    fields = (body.components, body.header_text, body.body_text, body.footer_text)
    return any(each is not UNSET for each in fields)


def _merged(template: Template, body: TemplateChange) -> tuple[list[RawComponent], Shortcuts]:
    """Return the components that stay or are given, and those that a text replaces."""
    texts = {Header: body.header_text, Body: body.body_text, Footer: body.footer_text}
    replaced = {kind.__struct_config__.tag for kind, each in texts.items() if each is not UNSET}
    shortcuts = Shortcuts(*(text if isinstance(text, str) else None for text in texts.values()))
    if not isinstance(body.components, msgspec.UnsetType):
        return body.components, shortcuts
    remaining: list[RawComponent] = [
        each for each in template.components if each.get("type") not in replaced
    ]
    return remaining, shortcuts


def _validated(
    raw: Sequence[RawComponent], shortcuts: Shortcuts, category: str, style: Format
) -> list[dict[str, Any]]:
    try:
        components = parse_components(raw, shortcuts, style)
        check(components, category, style)
    except BadInput as error:
        root = error.path.partition(".")[0]
        if root not in SHORTCUTS:
            raise
        raise BadInput(root, error.message, error.code) from None
    return to_documents([component for _, component in components])
