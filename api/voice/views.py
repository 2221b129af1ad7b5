"""A call as customers see it: the engine's view, without where the call is."""

from typing import Any

import msgspec
from msgspec import NODEFAULT, Raw, Struct
from msgspec.structs import FieldInfo, fields

from wire.base import Shape
from wire.views import CallView

INTERNAL = frozenset({"node", "slot"})  # of the operator


def _field(each: FieldInfo) -> tuple[str, Any, Any]:
    if each.default_factory is not NODEFAULT:
        default: Any = msgspec.field(name=each.encode_name, default_factory=each.default_factory)
    elif each.default is not NODEFAULT:
        default = msgspec.field(name=each.encode_name, default=each.default)
    else:
        default = msgspec.field(name=each.encode_name)
    return each.name, each.type, default


CallDetails: type[Struct] = msgspec.defstruct(
    "CallDetails",
    [_field(each) for each in fields(CallView) if each.name not in INTERNAL],
    bases=(Shape,),
    namespace={"__doc__": CallView.__doc__},
    frozen=True,
)


def call_details(view: bytes) -> bytes:
    """Return an engine's view of a call as customers see it."""
    found = msgspec.json.decode(view, type=dict[str, Raw])
    return msgspec.json.encode({k: value for k, value in found.items() if k not in INTERNAL})
