"""Programs of the version before read what those of the next one write: responses and documents."""

import re
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from engine.rpc.operations import OPERATIONS
from engine.runtime.agents.phone_credentials import PhoneCredentials
from wire.agents import Agent
from wire.callbacks.settings import CallbackSettings
from wire.decoding import lenient
from wire.decoding.errors import BadInput, InputErrors, type_info
from wire.decoding.messages import decode_message
from wire.dial_policy import AccountDialPolicy
from wire.documents.versioned import FlowState
from wire.events.record import CallRecord
from wire.listeners import Listener, ListenerRequest
from wire.request import ApiRequest
from wire.rpc import NumberRoute, Problem

NEW_FIELD = "ofALaterVersion"
MAX_DEPTH = 6  # verbs contain verbs
TEXTS = (
    "x",
    "/a",
    "auto-set",
    "1",
    "+15550001",
    "PJSIP/x",
    "https://x.example.com/",
    "en-US",
    "NO",
    "a" * 32,
    "aa:1",
    "a@b.example.com",
)
RESPONSES = [each.response for each in OPERATIONS if each.response is not None]
STORED = (
    Agent,
    ApiRequest,
    NumberRoute,
    FlowState,
    CallbackSettings,
    AccountDialPolicy,
    CallRecord,
    PhoneCredentials,
    Listener,
    ListenerRequest,
    Problem,
)


SHAPES = list({str(each): each for each in (*RESPONSES, *STORED)}.values())


def sample(kind: inspect.Type, depth: int = 0) -> Any:
    """Return a value of a type with all its fields, in JSON's types."""
    match kind:
        case inspect.Metadata(type=inner):
            return sample(inner, depth)
        case inspect.UnionType(types=kinds):
            plain = [each.type if isinstance(each, inspect.Metadata) else each for each in kinds]
            if depth > MAX_DEPTH and any(isinstance(each, inspect.NoneType) for each in plain):
                return None
            return sample(min(plain, key=_rank), depth)
        case inspect.StructType(fields=fields):
            return _sample_struct(kind, fields, depth)
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            count = max(kind.min_length or 0, 0 if depth > MAX_DEPTH else 1)
            return [sample(item, depth + 1)] * count
        case inspect.TupleType(item_types=items):
            return [sample(each, depth + 1) for each in items]
        case inspect.DictType(key_type=name, value_type=item):
            return {str(sample(name)): sample(item, depth + 1)}
        case _:
            return _sample_scalar(kind)


def _sample_struct(kind: inspect.StructType, fields: Any, depth: int) -> dict[str, Any]:
    wanted = [each for each in fields if each.required or depth <= MAX_DEPTH]
    made = {each.encode_name: sample(each.type, depth + 1) for each in wanted}
    return {kind.tag_field: kind.tag, **made} if kind.tag_field else made


def _rank(kind: inspect.Type) -> int:
    order = (inspect.StructType, inspect.DictType, inspect.ListType, inspect.VarTupleType)
    places = [place for place, each in enumerate(order) if isinstance(kind, each)]
    return places[0] if places else len(order) + isinstance(kind, inspect.NoneType)


def _sample_scalar(kind: inspect.Type) -> Any:
    match kind:
        case inspect.StrType(pattern=pattern):
            least = kind.min_length or 0
            fitting = (each.ljust(least, "a") for each in TEXTS)
            return next(each for each in fitting if pattern is None or re.search(pattern, each))
        case inspect.LiteralType(values=values):
            return values[0]
        case inspect.IntType() | inspect.FloatType():
            return max(kind.ge or 0, 1)
        case inspect.BoolType():
            return True
        case inspect.BytesType():
            return "YQ=="
        case _:
            return None


def extended(value: Any, kind: inspect.Type) -> Any:
    """Return a value in which each object of a shape has one more field."""
    from_type = kind.type if isinstance(kind, inspect.Metadata) else kind
    if isinstance(from_type, inspect.UnionType):
        plain = [
            each.type if isinstance(each, inspect.Metadata) else each for each in from_type.types
        ]
        return extended(value, min(plain, key=_rank)) if value is not None else None
    match value, from_type:
        case dict(), inspect.StructType(fields=fields):
            kinds = {each.encode_name: each.type for each in fields}
            known = {
                name: extended(each, kinds[name]) if name in kinds else each
                for name, each in value.items()
            }
            return {**known, NEW_FIELD: {"a": 1}}
        case dict(), inspect.DictType(value_type=item):
            return {name: extended(each, item) for name, each in value.items()}
        case list(), inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            return [extended(each, item) for each in value]
        case list(), inspect.TupleType(item_types=items):
            return [extended(each, item) for each, item in zip(value, items, strict=True)]
        case _:
            return value


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_unknown_fields_are_left_out(shape: Any) -> None:
    """At each depth; all that is known is read as it was written."""
    kind = type_info(shape)
    value = sample(kind)
    known = msgspec.json.decode(msgspec.json.encode(value), type=shape)
    later = extended(value, kind)
    assert later != value
    assert decode_message(msgspec.json.encode(later), shape) == known


def test_other_faults_are_errors() -> None:
    """A field of another type, or one that is missing."""
    for body in (b'{"endpoint":1}', b'{"name":"Ada"}', b"[]", b"{"):
        with pytest.raises(msgspec.DecodeError):
            decode_message(body, Agent)


def test_requests_of_people_stay_strict() -> None:
    """A field that is written wrong is an error with its path."""
    with pytest.raises((BadInput, InputErrors)) as found:
        lenient.decode(b'{"endpoint":"PJSIP/ada","phon":"browser"}', Agent)
    assert found.value.path == "phon"
