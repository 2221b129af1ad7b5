"""The generated reference: current, complete, and true to the decoders."""

from functools import cache
from pathlib import Path
from typing import Any, get_args

import msgspec

from tests.harness.each import for_each
from tools.docs.reference import events, webhooks
from tools.docs.reference.event_texts import FAMILIES
from tools.docs.reference.markdown import block_names
from tools.docs.reference.pages import BLOCKS, REFERENCE, sources, stale_pages
from tools.docs.reference.shapes import Shapes
from tools.docs.reference.verb_texts import VERBS
from tools.docs.reference.verbs import BY_TAG, errors_of
from tools.docs.reference.webhook_texts import BODIES
from wire.events.call_events import Kind
from wire.tree import DEFAULT_LIMITS
from wire.webhooks import GatherReason, RecordReason, StreamEndReason


@cache
def pages() -> dict[Path, str]:
    """Return the generated pages."""
    return sources()


@for_each(pages, lambda path: str(path.relative_to(REFERENCE.parent)))
def test_a_page_is_current(path: Path) -> None:
    """Else run `make docs`."""
    assert path.read_text() == pages()[path]


def test_no_page_is_left_of_what_is_gone() -> None:
    """`make docs` removes the page of a verb or body that no longer exists."""
    assert stale_pages(pages()) == []


@for_each(BLOCKS)
def test_a_written_page_has_its_blocks(name: str) -> None:
    """A block that lost its markers would stay as it is for ever."""
    assert sorted(block_names((REFERENCE / name).read_text())) == sorted(BLOCKS[name])


@for_each(BY_TAG)
def test_the_examples_of_a_verb_are_valid(tag: str) -> None:
    """The decoder accepts both examples, and they are of this verb."""
    text = VERBS[tag]
    assert [errors_of(each) for each in (text.example, text.full)] == [[], []]
    assert {text.example["type"], text.full["type"]} == {tag}


@for_each(BY_TAG)
def test_an_example_has_every_field(tag: str) -> None:
    """Those that exclude each other are in examples of another verb or in `onError`."""
    shapes = Shapes(BY_TAG[tag])
    shape = shapes.of(BY_TAG[tag])
    fields = {each.name for each in (*shape.fields, *shapes.named(shape.parts["data"]).fields)}
    assert fields - set(names_in(VERBS[tag].full)) <= {"flowId", "data"}


def names_in(tree: Any) -> list[str]:
    if isinstance(tree, list):
        return [name for each in tree for name in names_in(each)]
    if not isinstance(tree, dict):
        return []
    return [*tree, *(name for each in tree.values() for name in names_in(each))]


@for_each(BY_TAG)
def test_rejected_examples_are_rejected(tag: str) -> None:
    """Each has an error; else the page would have an empty row."""
    assert all(errors_of(each, DEFAULT_LIMITS) for each in VERBS[tag].rejected)
    assert VERBS[tag].rejected


@for_each(BODIES)
def test_the_example_of_a_body_is_valid(name: str) -> None:
    """A receiver decodes it, and it has no field that the body does not have."""
    body = BODIES[name]
    encoded = msgspec.to_builtins(webhooks.decoded(body))
    assert set(body.example) <= set(encoded)


def test_reasons_are_those_of_the_shapes() -> None:
    """A reason without a text, or a text without a reason, is an error of the page."""
    assert set(BODIES["gather"].values) == set(get_args(GatherReason))
    assert set(BODIES["record"].values) == set(get_args(RecordReason))
    assert set(BODIES["stream"].values) == set(get_args(StreamEndReason))
    assert set(BODIES["action"].values) - {"start", "reply"} == set(BY_TAG) - {"hangup"}


@for_each(FAMILIES)
def test_the_example_of_an_event_is_valid(name: str) -> None:
    """It has only fields that the page lists for its kind."""
    event = events.decoded(FAMILIES[name])
    listed = {*FAMILIES[name].events[event.event].fields, *events.COMMON}
    assert set(events.example(FAMILIES[name])) <= listed


def test_every_kind_of_event_is_on_one_page() -> None:
    """A new kind needs its text in `event_texts.py`."""
    listed = [kind for family in FAMILIES.values() for kind in family.events]
    assert sorted(listed) == sorted(get_args(Kind))
