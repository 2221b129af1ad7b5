"""A page for each body of a webhook, and the table of all."""

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from tools.docs.reference.markdown import code, json_block, page, table
from tools.docs.reference.shapes import Field, Shape, Shapes
from tools.docs.reference.webhook_texts import BODIES, Body
from wire.listeners import ListenerResponse
from wire.webhooks import ActionRequest, DialResult

_SHAPES = Shapes(*(each.shape for each in BODIES.values()), ListenerResponse)
_RULES = {
    "action": "The response is the next verb as JSON, an https address as a JSON string, or empty"
    " with any 2xx if nothing follows. [Headers, signature, time limits, retries and"
    " failures](../webhooks.md#action-webhooks) are those of all action webhooks.",
    "callback": "Any 2xx within 10 s acknowledges it; the response's body is not read. The"
    " [headers and signature](../webhooks.md#headers) are those of all webhooks;"
    " [retries](../../callbacks.md#retries-and-dead-letters) last up to 7.5 hours.",
}


def webhook_pages() -> dict[str, str]:
    """Return the pages of all bodies, by name."""
    return {f"webhooks/{name}.md": _page(each) for name, each in BODIES.items()}


def webhook_table() -> str:
    """Return the table of all bodies."""
    return table(
        ("body", "sent when"),
        [(f"[{each.title}](webhooks/{name}.md)", each.brief) for name, each in BODIES.items()],
    )


def _page(body: Body) -> str:
    shape = _SHAPES.of(body.shape)
    return page(
        body.title,
        f"{body.shape.__module__.replace('.', '/')}.py and its texts",
        body.when,
        json_block(body.example),
        "## Fields",
        received_table(shape, body.shape),
        body.more,
        *_values(body),
        *_nested(shape),
        "## Response",
        _RULES.get(body.kind) or _listener_response(),
    )


def _values(body: Body) -> Iterable[str]:
    if body.field:
        yield f"### Values of `{body.field}`"
        rows = [(code(value), text) for value, text in body.values.items()]
        yield table((code(body.field), "means"), rows)


def _nested(shape: Shape) -> Iterable[str]:
    """Yield a section for each object in a body; a dial has its own page."""
    for field, name in shape.parts.items():
        if name == DialResult.__name__ or field == "record":
            continue
        part = _SHAPES.named(name)
        yield f"### `{field}`"
        yield part.text.partition("\n\n")[0]
        yield table(
            ("field", "type", "meaning"),
            [(code(each.name), each.kind, each.text) for each in part.fields],
        )


# Fields of whole bodies that are absent without a value.
_UNSET = {"mediaFault", "speech", "confidence", "recognizerError"}


def received_table(shape: Shape, kind: Any) -> str:
    """Return a table of the fields of a body, with those that may be absent."""
    is_whole = not kind.__struct_config__.omit_defaults
    rows = [
        (code(each.name), each.kind, _present(each, is_whole=is_whole), each.text)
        for each in shape.fields
    ]
    return table(("field", "type", "present", "meaning"), rows)


def _present(field: Field, *, is_whole: bool) -> str:
    """Return when a field is there: fields with their default value are omitted by most shapes."""
    if field.default is None or (is_whole and field.name not in _UNSET):
        return "always"
    return "if it applies"


def _listener_response() -> str:
    shape = _SHAPES.of(ListenerResponse)
    rows = [(code(f.name), f.kind, f.default or "**required**", f.text) for f in shape.fields]
    return (
        "Sent to `POST /srmain/voice/listeners/{id}/responses/{request}`, before `untilMs`:\n\n"
        + table(("field", "type and limits", "default", "meaning"), rows)
    )


def decoded(body: Body) -> Any:
    """Decode the example of a body as a receiver would, strictly; raises ValidationError."""
    shape = ActionRequest if body.shape is DialResult else body.shape
    return msgspec.json.decode(json.dumps(body.example).encode(), type=shape)
