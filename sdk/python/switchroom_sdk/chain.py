"""What all verbs have in common: a next action, limits that are checked, and their JSON."""

from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from switchroom_sdk.errors import InvalidField, RelativeAddress

_PLACEHOLDER = "https://relative.invalid"
# Each kind of object with its fields that hold addresses, or objects that do; `*` is any name.
# All other fields are the customer's own data. The TypeScript SDK has the same table.
_FIELDS: Mapping[str, Mapping[str, str]] = {
    "body": {
        "action": "action",
        "fallback": "action",
        "machineDetection": "detection",
        "nodes": "nodes",
    },
    "detection": {"onMachine": "action"},
    "nodes": {"*": "node"},
    "node": {"data": "data"},
    "action": {"action": "action", "onError": "action", "data": "data"},
    "data": {
        "audioUrl": "address",
        "url": "address",
        "fallback": "action",
        "whisper": "action",
        "confirm": "data",
    },
}
_ADDRESSES = frozenset({"action", "address"})  # the kinds that may be texts


class Shape(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True,
    rename="camel",
):  # fmt: skip
    """Base of all shapes that are sent: frozen, camelCase, without fields that have no value."""


S = TypeVar("S", bound=Shape)


class Chain(Shape, frozen=True, kw_only=True):
    """A verb, which may be followed by others."""

    def then(self, action: Any) -> Self:
        """Return this chain with an action after its last verb: a chain, or an address.

        An address is that of a webhook; one that begins with `/` is at your own server.
        """
        following = _following(self)
        if isinstance(following, str):
            raise InvalidField("action", f"the chain ends with the webhook {following}")
        if isinstance(following, Chain):
            return replace(self, action=following.then(action))
        return checked(replace(self, action=action))

    def to_dict(self, base_url: str | None = None) -> dict[str, Any]:
        """Return the JSON object; `base_url` is where addresses that begin with `/` are."""
        found: dict[str, Any] = msgspec.json.decode(self.to_json(base_url))
        return found

    def to_json(self, base_url: str | None = None) -> bytes:
        """Return the same as bytes."""
        return msgspec.json.encode(resolved(self, base_url))


def _following(verb: Any) -> Any:
    return verb.action  # which each verb has; it is typed there


def checked(value: S) -> S:
    """Return a shape whose values are within their limits; raises InvalidField."""
    try:
        builtins = resolved(value, _PLACEHOLDER)
        msgspec.json.encode(builtins)
    except (TypeError, ValueError) as error:  # an object, half a surrogate pair
        raise InvalidField("", f"this cannot be written as JSON: {error}") from None
    try:
        msgspec.convert(_with_lists(builtins), type(value))
    except msgspec.ValidationError as error:
        text, _, path = str(error).partition(" - at `$.")
        raise InvalidField(path.rstrip("`").removesuffix("[0]"), _plain(text)) from None
    return value


def _with_lists(node: Any) -> Any:
    """Return a tree in which one address or number is a list of one, whose items have patterns.

    The type of a text beside a list has none: msgspec 0.22 would free it twice.
    """
    match node:
        case {"type": ("play" | "dial") as verb, "data": {} as data}:
            field = "audioUrl" if verb == "play" else "number"
            given = data.get(field)
            listed = {**data, field: [given]} if isinstance(given, str) else data
            return {name: _with_lists(each) for name, each in {**node, "data": listed}.items()}
        case dict():
            return {name: _with_lists(each) for name, each in node.items()}
        case _:
            return node


def _plain(text: str) -> str:
    return text[:1].lower() + text[1:].replace("`", "")


def many(value: Any) -> Any:
    """Return a text or None as it is, and any other sequence as a tuple."""
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def resolved(value: Any, base_url: str | None, kind: str = "action") -> Any:
    """Return JSON with absolute addresses where its kind holds some; raises RelativeAddress."""
    match value:
        case Shape():
            kind = "action" if isinstance(value, Chain) else kind  # a chain is one wherever it is
            return resolved(msgspec.to_builtins(value), base_url, kind)
        case str() if kind in _ADDRESSES:
            return absolute(value, base_url)
        case Mapping():
            fields = _FIELDS.get(kind, {})
            others = fields.get("*", "")
            return {
                name: resolved(each, base_url, fields.get(name, others))
                for name, each in value.items()
            }
        case list() | tuple():
            return [resolved(each, base_url, kind) for each in value]
        case _:
            return value


def absolute(address: str, base_url: str | None) -> str:
    """Return an address; one that begins with `/` needs a base."""
    if not address.startswith("/"):
        return address
    if base_url is None:
        raise RelativeAddress(address)
    return base_url.rstrip("/") + address
