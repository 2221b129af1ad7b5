"""Every field of a verb or a node that holds an address, a party, a verb or an edge is checked.

The fields are found by their types, so a new verb is tested, too.
"""

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from msgspec import inspect

from engine.calls.verbs.audio_sources import audio_sources
from engine.flows.check import check_graph, check_tree
from wire import patterns
from wire.base import tag_of
from wire.decoding import lenient
from wire.errors import BadInput, errors_in, type_info
from wire.flow import Node
from wire.media import Audio
from wire.tree import Limits
from wire.verbs import Action, Verb

INSECURE = "http://10.0.0.1/"
PROMPT = "https://example.com/found.wav"
SAMPLES = {
    patterns.URL: "https://example.com/",
    patterns.PARTY: "+4721930000",
    patterns.NUMBER: "+4721930000",
    patterns.HEX_ID: "0" * 24,
    patterns.BRANCH: "1",
}
Step = str | int
Field = tuple[tuple[Step, ...], str]  # the steps to a field, and what it holds


def alternatives(kind: inspect.Type) -> Iterator[inspect.Type]:
    match kind:
        case inspect.Metadata(type=inner):
            yield from alternatives(inner)
        case inspect.UnionType(types=kinds):
            for each in kinds:
                yield from alternatives(each)
        case _:
            yield kind


def fields_of(kind: inspect.Type, steps: tuple[Step, ...] = ()) -> Iterator[Field]:
    """Yield the fields below a type that hold an address, a party, a name or a verb."""
    for each in alternatives(kind):
        match each:
            case inspect.StructType(tag=str()) if steps:
                yield steps, "verb"
            case inspect.StructType(fields=fields):
                for field in fields:
                    yield from fields_of(field.type, (*steps, field.encode_name))
            case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
                yield from fields_of(item, (*steps, 0))
            case inspect.DictType(key_type=key, value_type=item):
                yield from fields_of(item, (*steps, sample(key)))
            case inspect.StrType(pattern=patterns.URL):
                yield steps, "address"
            case inspect.StrType(pattern=patterns.PARTY | patterns.NUMBER):
                yield steps, "party"
            case inspect.StrType(pattern=patterns.NAME) if "data" not in steps:
                yield steps, "edge"
            case _:
                pass


def sample(kind: inspect.Type) -> Any:
    """Return a document of a type with its required fields only."""
    first = next(alternatives(kind))
    match first:
        case inspect.StructType(fields=fields, tag_field=tag_field, tag=tag):
            required = {each.encode_name: sample(each.type) for each in fields if each.required}
            return {tag_field: tag, **required} if tag_field else required
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            return [sample(item)]
        case inspect.DictType(key_type=key, value_type=item):
            return {sample(key): sample(item)}
        case inspect.StrType(pattern=pattern):
            return SAMPLES.get(pattern or "", "name")
        case inspect.LiteralType(values=values):
            return values[0]
        case _:
            return 1


def put(document: Any, kind: inspect.Type, steps: tuple[Step, ...], value: Any) -> Any:
    """Return a document with a value at these steps; the objects on the way are samples."""
    if not steps:
        return value
    step, *rest = steps
    for each in alternatives(kind):
        match each:
            case inspect.StructType(fields=fields) if isinstance(step, str):
                field = next((f for f in fields if f.encode_name == step), None)
                if field is not None:
                    base = document if isinstance(document, dict) else sample(each)
                    inner = put(base.get(step), field.type, tuple(rest), value)
                    return {**base, step: inner}
            case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item) if (
                step == 0
            ):
                return [put(None, item, tuple(rest), value)]
            case inspect.DictType(value_type=item):
                return {step: put(None, item, tuple(rest), value)}
            case _:
                pass
    raise AssertionError(f"no field {step}")


def path_of(steps: tuple[Step, ...]) -> str:
    return "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in steps)[1:]


def paths(error: BadInput) -> set[str]:
    return {each.path for each in errors_in(error)}


FAULTS = {
    "address": (INSECURE, ""),
    "party": ("sip:900@evil.example", ""),
    "verb": ({"type": "say", "data": {"text": "x"}, "action": INSECURE}, ".action"),
}
VERBS = [
    pytest.param(verb, steps, holds, id=f"{tag_of(verb)}.{path_of(steps)}-{holds}")
    for verb in get_args(Verb)
    for steps, holds in dict.fromkeys(fields_of(type_info(verb)))
    if holds in FAULTS
]
AUDIO = [each for each in VERBS if each.values[2] == "verb" or "audioUrl" in each.values[1]]
NODES = [
    pytest.param(node, steps, holds, id=f"{tag_of(node)}.{path_of(steps)}-{holds}")
    for node in get_args(Node)
    for steps, holds in dict.fromkeys(fields_of(type_info(node)))
]


@pytest.mark.parametrize(("verb", "steps", "holds"), VERBS)
def test_a_field_of_a_verb_is_checked(verb: Any, steps: tuple[Step, ...], holds: str) -> None:
    """A forbidden address or party in it is found, also in the verbs within it."""
    value, below = FAULTS[holds]
    kind = type_info(verb)
    with pytest.raises(BadInput) as raised:
        check_tree(put(sample(kind), kind, steps, value), Limits())
    assert path_of(steps) + below in paths(raised.value)


@pytest.mark.parametrize(("node", "steps", "holds"), NODES)
def test_a_field_of_a_node_is_checked(node: Any, steps: tuple[Step, ...], holds: str) -> None:
    """The same in flows, where a field may also name a node that does not exist."""
    value, below = {**FAULTS, "edge": ("nowhere", "")}[holds]
    kind = type_info(node)
    document = {"start": "name", "nodes": {"name": put(sample(kind), kind, steps, value)}}
    with pytest.raises(BadInput) as raised:
        check_graph(document, Limits(), {})
    assert f"nodes.name.{path_of(steps)}{below}" in paths(raised.value)


@pytest.mark.parametrize(("verb", "steps", "holds"), AUDIO)
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
