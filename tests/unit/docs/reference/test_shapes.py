"""Fields as pages show them: limits and defaults are those of the shapes, and each has a text."""

from typing import Annotated, get_args

from msgspec import Meta
from msgspec.structs import fields

from tools.docs.reference.shapes import NOTHING, Shapes
from wire.base import Milliseconds, Name, Shape, Url
from wire.events.call_events import CallEvent
from wire.events.record import CallRecord
from wire.listeners import ListenerRequest, ListenerResponse
from wire.verbs import PlayData, Verb
from wire.webhooks import ActionRequest, GatherResult, RecordResult

PUBLIC = (*get_args(Verb), ActionRequest, GatherResult, RecordResult, CallEvent, CallRecord,
          ListenerRequest, ListenerResponse)  # fmt: skip


class Inner(Shape, frozen=True):
    """Something within."""

    name: Name


class Example(Shape, frozen=True):
    """Fields of several kinds."""

    url: Url
    inner: Inner
    digit_timeout: Milliseconds = 250
    text: Annotated[str, Meta(min_length=2, max_length=4_000)] = ""
    loop: Annotated[int, Meta(ge=1)] | None = None
    beep: bool = True


def test_types_limits_and_defaults_are_shown() -> None:
    """With the unit that the text names."""
    found = {each.name: each for each in Shapes(Example).of(Example).fields}
    assert found["url"].kind == "an https:// address"
    assert found["url"].default is None
    assert found["digitTimeout"][1:3] == ("integer, 0 to 600,000 (ms)", "`250`")
    assert found["text"][1:3] == ("text of 2 to 4,000 characters", '`""`')
    assert found["loop"][1:3] == ("integer, at least 1", NOTHING)
    assert found["beep"][1:3] == ("boolean", "`true`")


def test_a_choice_of_types_is_shown() -> None:
    """One address, or several."""
    url = Shapes(PlayData).of(PlayData).fields[0]
    assert url.kind == "an https:// address, or list of 1 to 20: an https:// address"


def test_objects_within_are_found() -> None:
    """Each has a table of its own."""
    shapes = Shapes(Example)
    assert shapes.of(Example).parts == {"inner": "Inner"}
    assert [each.name for each in shapes.named("Inner").fields] == ["name"]


def test_every_public_field_has_a_text() -> None:
    """One that says more than its name, in whichever shape it is."""
    shapes = Shapes(*PUBLIC)
    for name in shapes.components:
        for each in shapes.named(name).fields:
            assert each.text, f"{name}.{each.name}"
            assert each.text.rstrip(".").lower() != each.name.lower(), f"{name}.{each.name}"


def test_required_fields_are_those_of_the_shapes() -> None:
    """A field is required if its shape has no default for it."""
    shapes = Shapes(*PUBLIC)
    for shape in PUBLIC:
        required = {each.encode_name for each in fields(shape) if each.required}
        shown = {each.name for each in shapes.of(shape).fields if each.default is None}
        assert shown - {"type"} == required
