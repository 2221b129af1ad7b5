"""A page for each family of call events, and the table of all kinds."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from tools.docs.reference.event_texts import FAMILIES, Family
from tools.docs.reference.markdown import code, json_block, page, table
from tools.docs.reference.shapes import Shape, Shapes
from tools.docs.reference.webhook_texts import CALL
from wire.events.call_events import VERSION, CallEvent
from wire.events.record import CallRecord

SOURCE = "wire/events/call_events.py and its texts"
RECORD = "events/record.md"
_SHAPES = Shapes(CallEvent, CallRecord)
_EVENT = _SHAPES.of(CallEvent)
# Fields that an event of any kind may have.
COMMON = (
    "id", "event", "sequenceNumber", "timestamp", "callId", "accountId", "callStatus", "direction",
    "from", "to", "agent_id", "reference_id", "customData", "version", "privacy", "diversion",
    "callerName",
)  # fmt: skip
_ALWAYS = {"version"}  # it has a default for events of the time before formats were numbered
_BASE = {
    "id": f"{CALL}.e4", "event": "", "sequenceNumber": 4, "timestamp": 1795683600000,
    "callId": CALL, "accountId": "acme", "callStatus": "", "direction": "inbound",
    "from": "+4722222222", "to": "+4721930000", "version": VERSION,
}  # fmt: skip


def event_pages() -> dict[str, str]:
    """Return the pages of all families, and of the record, by name."""
    pages = {f"events/{name}.md": _page(each) for name, each in FAMILIES.items()}
    return {**pages, RECORD: _record_page()}


def kinds_table() -> str:
    """Return the table of all kinds of events."""
    rows = [
        (code(kind), each.when, f"[{family.title.lower()}](events/{name}.md)")
        for name, family in FAMILIES.items()
        for kind, each in family.events.items()
    ]
    return table(("event", "emitted", "page"), rows)


def common_fields() -> str:
    """Return the table of the fields that events of all kinds have."""
    return _fields(_EVENT, COMMON, has_presence=True)


def _page(family: Family) -> str:
    return page(
        family.title,
        SOURCE,
        family.about,
        json_block(example(family)),
        "Each has also the [fields of all events](../events.md#fields-of-all-events). Fields that"
        " do not apply are absent.",
        "## Kinds",
        _kinds(family),
        "## Fields",
        _fields(_EVENT, tuple(dict.fromkeys(_own_fields(family)))),
        *_nested(_EVENT, family),
    )


def _kinds(family: Family) -> str:
    rows = [
        (code(kind), each.when, ", ".join(map(code, each.fields)))
        for kind, each in family.events.items()
    ]
    return table(("event", "emitted", "fields"), rows)


def _own_fields(family: Family) -> Iterator[str]:
    for each in family.events.values():
        yield from each.fields


def _fields(shape: Shape, names: tuple[str, ...], *, has_presence: bool = False) -> str:
    fields = {each.name: each for each in shape.fields}
    rows = []
    for name in names:
        field = fields[name]
        is_always = field.default is None or name in _ALWAYS
        present = ("always" if is_always else "if it applies",) if has_presence else ()
        text = f"{field.text} [The record](record.md)." if name == "record" else field.text
        rows.append((code(name), field.kind, *present, text))
    return table(("field", "type", *(("present",) if has_presence else ()), "meaning"), rows)


def _nested(shape: Shape, family: Family) -> Iterator[str]:
    """Yield a section for each object that the events of a family have; the record has a page."""
    own = set(_own_fields(family))
    for field, name in shape.parts.items():
        if field in own and field != "record":
            part = _SHAPES.named(name)
            yield f"### `{field}`"
            yield _all_fields(part)


def _record_page() -> str:
    return page(
        "The record of a call",
        "wire/events/record.py and its texts",
        "The event [`completed`](calls.md) has the call's record in `record`."
        " Times that end in `Ms` are either moments, in milliseconds since 1970, or lengths; the"
        " table says which. How the lengths add up, and how a call ended:"
        " [call events](../../events.md#the-record-of-a-call).",
        "## Fields",
        _all_fields(_SHAPES.of(CallRecord)),
        *_parts(_SHAPES.of(CallRecord), 2),
    )


def _parts(shape: Shape, depth: int) -> Iterator[str]:
    for field, name in shape.parts.items():
        part = _SHAPES.named(name)
        yield f"{'#' * depth} `{field}`"
        yield part.text.partition("\n\n")[0]
        yield _all_fields(part)
        yield from _parts(part, depth + 1)


def _all_fields(shape: Shape) -> str:
    return _fields(shape, tuple(each.name for each in shape.fields), has_presence=True)


def example(family: Family) -> dict[str, Any]:
    """Return the example of a family with the fields that all events have."""
    return {**_BASE, **family.example}


def decoded(family: Family) -> CallEvent:
    """Decode the example of a family; raises ValidationError."""
    return msgspec.json.decode(json.dumps(example(family)).encode(), type=CallEvent)
