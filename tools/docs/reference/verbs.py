"""A page for each verb, and the table of all."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from tools.docs.reference.markdown import code, json_block, page, table
from tools.docs.reference.shapes import NOTHING, Field, Shape, Shapes
from tools.docs.reference.verb_texts import VERBS, VerbText
from wire.base import tag_of
from wire.decoding.errors import BadInput, errors_in
from wire.media import SSML_ELEMENTS
from wire.tree import DEFAULT_LIMITS, Limits, parse_action
from wire.verbs import Verb

SOURCE = "wire/verbs.py"
_SHAPES = Shapes(*get_args(Verb))
BY_TAG = {tag_of(each): each for each in get_args(Verb)}
# Trees with an error that any verb may have.
_REJECTED = (
    {"type": "shout", "data": {}},
    {"type": "say"},
    {"type": "say", "data": {"text": "Hello", "loudness": 3}},
    {"type": "pause", "data": {"length": "long"}},
    {"type": "pause", "data": {"length": 1}, "action": "http://example.com/menu"},
)


def verb_pages() -> dict[str, str]:
    """Return the pages of all verbs, by name."""
    return {f"verbs/{tag}.md": _page(tag, kind, VERBS[tag]) for tag, kind in BY_TAG.items()}


def verb_table() -> str:
    """Return the table of all verbs, with the fields that each needs or may have."""
    rows = []
    for tag, kind in BY_TAG.items():
        shape = _SHAPES.of(kind)
        data = _SHAPES.named(shape.parts["data"])
        fields = ", ".join(code(each.name) for each in data.fields)
        link = f"[{code(tag)}](verbs/{tag}.md)"
        rows.append((link, shape.text.partition("\n")[0], fields))
    return table(("verb", "does", "`data`"), rows)


def _page(tag: str, kind: Any, text: VerbText) -> str:
    shape = _SHAPES.of(kind)
    beside = [each for each in shape.fields if each.name not in {"type", "data"}]
    return page(
        tag,
        f"{SOURCE} and its texts",
        text.does,
        json_block(text.example),
        "## Fields",
        "In `data`:",
        field_table(_SHAPES.named(shape.parts["data"]).fields),
        text.more,
        "Beside `data` ([rules for all verbs](common.md)):",
        field_table(beside),
        *nested(_SHAPES, _SHAPES.named(shape.parts["data"])),
        "## What follows",
        text.after,
        _result(text),
        "## All fields",
        json_block(text.full),
        "## Errors",
        "Each is found before the tree runs. [All verbs](common.md#errors) have further ones in"
        " common.",
        rejections(text.rejected),
    )


def _result(text: VerbText) -> str:
    if not text.result:
        return ""
    return (
        f"An address in `action` gets [this request](../webhooks/{text.result}.md), and responds"
        " with the next verb."
    )


def field_table(fields: Iterable[Field]) -> str:
    """Return a table of fields that may be sent."""
    return table(
        ("field", "type and limits", "default", "meaning"),
        ((code(e.name), e.kind, e.default or "**required**", e.text) for e in fields),
    )  # fmt: skip


def nested(shapes: Shapes, shape: Shape) -> Iterator[str]:
    """Yield a section for each object in a shape."""
    for field, name in shape.parts.items():
        part = shapes.named(name)
        yield f"### `{field}`"
        yield part.text.partition("\n\n")[0]
        yield field_table(part.fields)
        yield from nested(shapes, part)


def common_errors() -> str:
    """Return the errors that any verb may have."""
    return rejections(_REJECTED)


def limits_table() -> str:
    """Return the limits of a whole tree."""
    return table(
        ("limit", "of a tree"),
        [
            ("size", f"{DEFAULT_LIMITS.size_bytes:,} bytes of JSON"),
            ("depth", f"{DEFAULT_LIMITS.depth} actions in each other"),
        ],
    )


def ssml_table() -> str:
    """Return the elements of SSML that are kept, with their attributes."""
    rows = [
        (code(name), ", ".join(map(code, sorted(attributes))) or NOTHING)
        for name, attributes in SSML_ELEMENTS.items()
    ]
    return table(("element", "attributes"), rows)


def rejections(trees: Iterable[Mapping[str, Any]]) -> str:
    """Return a table of trees with the errors that the decoder reports."""
    rows = [
        (code(json.dumps(tree)), code(error.code), code(str(error)))
        for tree in trees
        for error in errors_of(tree)
    ]
    return table(("input", "`code`", "error"), rows)


def errors_of(tree: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> list[BadInput]:
    """Return the errors of a tree; none: it is accepted."""
    try:
        parse_action(json.dumps(tree).encode(), limits)
    except BadInput as error:
        return list(errors_in(error))
    return []
