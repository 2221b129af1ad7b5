"""Every field of a verb or a node that holds an address, a party, a verb or an edge is checked.

The fields are found by their types, so a new verb is tested, too.
"""

from typing import Any, get_args

import pytest

from engine.calls.verbs.audio_sources import audio_sources
from engine.flows.check import check_graph, check_tree
from tests.harness.calls.fields_of_verbs import Step, fields_of, path_of, put, sample
from wire.base import tag_of
from wire.decoding import lenient
from wire.decoding.errors import BadInput, errors_in, type_info
from wire.flow import Node
from wire.media import Audio
from wire.tree import Limits
from wire.verbs import Action, Verb

INSECURE = "http://10.0.0.1/"
PROMPT = "https://example.com/found.wav"


def paths(error: BadInput) -> set[str]:
    return {each.path for each in errors_in(error)}


FAULTS = {
    "address": (INSECURE, ""),
    "stream": ("ws://10.0.0.1/", ""),
    "party": ("sip:900@evil.example", ""),
    "verb": ({"type": "say", "data": {"text": "x"}, "action": INSECURE}, ".action"),
}
FIELDS = [
    (verb, steps, holds)
    for verb in get_args(Verb)
    for steps, holds in dict.fromkeys(fields_of(type_info(verb)))
    if holds in FAULTS
]
AUDIO = [each for each in FIELDS if each[2] == "verb" or "audioUrl" in each[1]]
NODES = [
    (node, steps, holds)
    for node in get_args(Node)
    for steps, holds in dict.fromkeys(fields_of(type_info(node)))
]


def named(fields: list[tuple[Any, tuple[Step, ...], str]]) -> list[Any]:
    """Return the parameters of a test, with their names."""
    return [
        pytest.param(each, steps, holds, id=f"{tag_of(each)}.{path_of(steps)}-{holds}")
        for each, steps, holds in fields
    ]


@pytest.mark.parametrize(("verb", "steps", "holds"), named(FIELDS))
def test_a_field_of_a_verb_is_checked(verb: Any, steps: tuple[Step, ...], holds: str) -> None:
    """A forbidden address or party in it is found, also in the verbs within it."""
    value, below = FAULTS[holds]
    kind = type_info(verb)
    with pytest.raises(BadInput) as raised:
        check_tree(put(sample(kind), kind, steps, value), Limits())
    assert path_of(steps) + below in paths(raised.value)


@pytest.mark.parametrize(("node", "steps", "holds"), named(NODES))
def test_a_field_of_a_node_is_checked(node: Any, steps: tuple[Step, ...], holds: str) -> None:
    """The same in flows, where a field may also name a node that does not exist."""
    value, below = {**FAULTS, "edge": ("nowhere", "")}[holds]
    kind = type_info(node)
    document = {"start": "name", "nodes": {"name": put(sample(kind), kind, steps, value)}}
    with pytest.raises(BadInput) as raised:
        check_graph(document, Limits(), {})
    assert f"nodes.name.{path_of(steps)}{below}" in paths(raised.value)


@pytest.mark.parametrize(("verb", "steps", "holds"), named(AUDIO))
def test_audio_is_fetched_before_it_is_played(
    verb: Any, steps: tuple[Step, ...], holds: str
) -> None:
    """The audio of a verb and of the verbs within it is prefetched."""
    played = {"type": "play", "data": {"audioUrl": PROMPT}}
    kind = type_info(verb)
    tree = put(sample(kind), kind, steps, played if holds == "verb" else PROMPT)
    assert Audio(PROMPT) in audio_sources(lenient.convert(tree, Action))


def test_fields_are_found() -> None:
    """By their types: these of a dial, for example."""
    (dial,) = (each for each in get_args(Verb) if tag_of(each) == "dial")
    assert {(path_of(steps), holds) for steps, holds in fields_of(type_info(dial))} == {
        ("data.number", "party"), ("data.number[0]", "party"), ("data.whisper", "verb"),
        ("data.confirm.audioUrl", "address"), ("action", "verb"), ("action", "address"),
    }  # fmt: skip
