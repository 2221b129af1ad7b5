"""Replaces templates by samples, so that a document can be checked before its values are known."""

import re
from typing import Any

from msgspec import inspect

from engine.calls.flows.templates import fill_decoded, is_template
from wire.decoding import patterns
from wire.decoding.errors import one_type, type_info
from wire.decoding.lenient import alternatives
from wire.flow import Node

_VALUE = "1"  # of a template; where a text of it does not fit, the pattern's own sample
_SAMPLES = {
    patterns.URL: "https://example.com/",
    patterns.STREAM_URL: "wss://example.com/",
    patterns.NUMBER: "+4721930000",
    patterns.PARTY: "+4721930000",
    patterns.CALLER_ID: "+4721930000",
    patterns.NAME: "name",
    patterns.LANGUAGE: "en",
    patterns.DTMF_KEY: "1",
    patterns.TERMINATOR: "#",
}
_TEMPLATED_HOST = re.compile(r"(http|ws)s?://[^/?#]*\{\{")


def with_samples(value: Any, kind: inspect.Type) -> Any:
    """Return a document with its templates replaced by texts that their fields accept.

    A template in place of a number or a boolean stays: filled in, it would be a text.
    """
    match value, one_type(kind, value):
        case dict(), inspect.StructType(fields=fields):
            kinds = {each.encode_name: each.type for each in fields}
            return {
                name: with_samples(each, kinds[name]) if name in kinds else each
                for name, each in value.items()
            }
        case dict(), inspect.DictType(value_type=item):
            return {name: with_samples(each, item) for name, each in value.items()}
        case list(), inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            return [with_samples(each, item) for each in value]
        case str(), _ if is_template(value):
            return _sample(value, kind)
        case _:
            return value


def node_with_samples(node: dict[str, Any]) -> dict[str, Any]:
    """Replace the templates in a node's data; its edges may not be templates."""
    kind = one_type(type_info(Node), node)
    fields = kind.fields if isinstance(kind, inspect.StructType) else ()
    data = {each.encode_name: each.type for each in fields if each.encode_name == "data"}
    return {
        name: with_samples(value, data[name]) if name in data else value
        for name, value in node.items()
    }


def _sample(text: str, kind: inspect.Type) -> str:
    """Return a text with its templates filled in, so that its fixed parts are checked, too."""
    filled: str = fill_decoded(text, lambda _name: _VALUE)
    samples = [text]
    for each in alternatives(kind):
        match each.type if isinstance(each, inspect.Metadata) else each:
            case inspect.StrType(pattern=pattern):
                is_part = pattern in _SAMPLES and _is_part(text, filled)
                if pattern is None or (re.search(pattern, filled) and not is_part):
                    return filled
                samples.insert(0, _SAMPLES.get(pattern, text))
            case inspect.LiteralType(values=values):
                samples.insert(0, str(values[0]))
            case _:
                pass
    return samples[0]


def _is_part(text: str, filled: str) -> bool:
    """Return whether a number or a host needs its templates to be a possible one."""
    return filled.startswith("+") or _TEMPLATED_HOST.match(text) is not None
