"""Decodes what programs of Switchroom have written: responses of the RPC and stored documents.

A program of the next version may have written them, so their unknown fields are left out (decision
0082). What people send is decoded by `wire.decoding.lenient`, which rejects such fields.
"""

from typing import Any, TypeVar, overload

import msgspec
from msgspec import inspect

from wire.decoding.errors import one_type, type_info

T = TypeVar("T")
_LISTS = (inspect.ListType, inspect.VarTupleType)


@overload
def decode_message(body: bytes | str, shape: type[T]) -> T: ...


@overload
def decode_message(body: bytes | str, shape: Any) -> Any: ...


def decode_message(body: bytes | str, shape: Any) -> Any:
    """Decode JSON without its unknown fields; raises msgspec.DecodeError.

    A message that its shape accepts costs nothing more.
    """
    try:
        return msgspec.json.decode(body, type=shape)
    except msgspec.ValidationError:
        known = _known(msgspec.json.decode(body), type_info(shape))
        return msgspec.json.decode(msgspec.json.encode(known), type=shape)


def _known(value: Any, kind: inspect.Type) -> Any:
    """Return a value without the fields that its type does not have, at any depth."""
    chosen = one_type(kind, value)
    if isinstance(value, dict):
        if isinstance(chosen, inspect.StructType):
            kinds = {each.encode_name: each.type for each in chosen.fields}
            known = {name: _known(value[name], kinds[name]) for name in kinds if name in value}
            tag = chosen.tag_field
            return {tag: value[tag], **known} if tag and tag in value else known
        if isinstance(chosen, inspect.DictType):
            return {name: _known(each, chosen.value_type) for name, each in value.items()}
    elif isinstance(value, list):
        if isinstance(chosen, _LISTS):
            return [_known(each, chosen.item_type) for each in value]
        if isinstance(chosen, inspect.TupleType) and len(chosen.item_types) == len(value):
            pairs = zip(value, chosen.item_types, strict=True)
            return [_known(each, item) for each, item in pairs]
    return value
