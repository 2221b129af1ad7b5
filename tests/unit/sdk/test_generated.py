"""The generated parts of the SDKs are those of the shapes that engine and REST layer use."""

import inspect
from functools import partial
from typing import Any, get_args

import msgspec
import pytest
import switchroom_sdk
from switchroom_sdk.generated import verbs, webhooks

from tools.docs.sdk.sources import schemas_of
from wire.events.call_events import CallEvent
from wire.verbs import Verb
from wire.webhooks import ActionRequest, GatherResult, RecordResult, StreamResult

TEXTS = {"description", "title", "examples", "discriminator"}


def bare(schema: Any, *, with_words: bool = True) -> Any:
    """Return a schema without its texts; without words, a word is any text."""
    match schema:
        case {"enum": list(), **more} if not with_words and "default" not in more:
            return {"type": "string"}
        case dict():
            return {
                key: bare(each, with_words=with_words)
                for key, each in schema.items()
                if key not in TEXTS
            }
        case list() | tuple():
            found = [bare(each, with_words=with_words) for each in schema]
            return sorted(found, key=partial(msgspec.json.encode, order="sorted"))
        case _:
            return schema


def test_verbs_have_the_fields_types_limits_and_defaults_of_the_engine() -> None:
    """The JSON Schemas of the SDK's verbs are the engine's."""
    assert bare(schemas_of(verbs.Verb)) == bare(schemas_of(Verb))


def test_the_package_has_each_verb() -> None:
    """A verb's type and its function are imported from the package itself."""
    names = {name for each in get_args(Verb) for name in (each.__name__, each.__name__.lower())}
    assert names <= vars(switchroom_sdk).keys()


@pytest.mark.parametrize(
    "shape", [ActionRequest, GatherResult, RecordResult, StreamResult, CallEvent]
)
def test_bodies_have_the_fields_types_and_defaults_of_the_engine(shape: type) -> None:
    """The JSON Schemas of received bodies are the engine's; only words are any text."""
    own = schemas_of(getattr(webhooks, shape.__name__))
    assert bare(_optional(own), with_words=False) == bare(
        _optional(schemas_of(shape)), with_words=False
    )


def _optional(schema: Any) -> Any:
    """Return a schema in which an absent field and null are the same."""
    match schema:
        case {"anyOf": [only, {"type": "null"}], "default": None}:
            return _optional(only)
        case dict():
            return {key: _optional(each) for key, each in schema.items()}
        case list() | tuple():
            return [_optional(each) for each in schema]
        case _:
            return schema


def test_each_verb_has_a_function_and_a_method_with_the_same_parameters() -> None:
    """`say(…)` and `chain.say(…)` take the same arguments."""
    for kind in verbs.Verb.__args__:
        name = kind.__struct_config__.tag
        function = inspect.signature(getattr(verbs, name))
        method = inspect.signature(getattr(verbs.Steps, name))
        assert [*method.parameters.values()][1:] == [*function.parameters.values()], name
