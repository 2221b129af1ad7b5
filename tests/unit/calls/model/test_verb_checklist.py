"""What a new verb needs beside its code: rows in the pages, a place in the random trees."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, Phase, find, settings

from engine.calls.model.commands import Answer
from engine.calls.model.events import CallOpened
from tests.harness.calls.builders import Story, inbound
from tests.harness.calls.fields_of_verbs import sample
from tests.harness.calls.random_trees import TREES
from tests.harness.scenarios.scenario import Scenarios
from wire.base import tag_of
from wire.decoding.errors import type_info
from wire.flow import Node
from wire.tree import walk
from wire.verbs import Verb

DOCS = Path(__file__).parents[4] / "docs"
VERBS = [tag_of(each) for each in get_args(Verb)]
NODES = [tag_of(each) for each in get_args(Node)]
QUICK = settings(
    max_examples=3_000, phases=[Phase.generate], database=None, derandomize=True,
    suppress_health_check=list(HealthCheck), deadline=None,
)  # fmt: skip


def rows(page: str) -> set[str]:
    """Return the names in the first column of a page's tables."""
    lines = (DOCS / page).read_text().splitlines()
    cells = [line.split("|")[1] for line in lines if line.startswith(("| `", "| [`"))]
    return {name for cell in cells for name in re.findall(r"`([a-z]+)`", cell)}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_documented(verb: str) -> None:
    """It has a row in the page of the verbs, and a page of its own."""
    assert verb in rows("reference/verbs.md")
    assert (DOCS / f"reference/verbs/{verb}.md").exists()


@pytest.mark.parametrize("node", NODES)
def test_a_node_is_documented(node: str) -> None:
    """It has a row in the page of the flows."""
    assert node in rows("flows.md")


def tags_in(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        yield tree.get("type", "")
        for each in tree.values():
            yield from tags_in(each)


@pytest.mark.parametrize("verb", VERBS)
def test_random_trees_contain_it(verb: str) -> None:
    """The stories of random trees run it."""
    find(TREES, lambda tree: verb in tags_in(tree), settings=QUICK)


def test_simulated_calls_contain_it() -> None:
    """The simulator's worlds, with every optional choice, run each verb."""
    choices = {
        name: random.Random(name)
        for name in ("messages", "pauses", "on_errors", "habits", "before_answer", "streams")
    }
    scenarios = Scenarios(random.Random(1), media_faults=True, **choices)
    made = [scenarios.verb(4) for _ in range(300)]
    found = {type(node) for verb in made for _, node, _ in walk(verb, "")}
    assert found >= set(get_args(Verb))


WITH_AUDIO = [each for each in get_args(Verb) if "on_error" in each.__struct_fields__]


@pytest.mark.parametrize("verb", WITH_AUDIO, ids=map(tag_of, WITH_AUDIO))
def test_a_verb_with_audio_answers_the_call(verb: Any) -> None:
    """A verb with `onError` plays audio, so it answers a call that still rings."""
    story = Story(inbound(sample(type_info(verb)), answer_deferred=True))
    story.take(CallOpened())
    assert story.commands_of(Answer)
