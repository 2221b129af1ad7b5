"""The fields of verbs and nodes, found by their types, and documents with a value in one."""

from collections.abc import Iterator
from typing import Any

from msgspec import inspect

from wire.decoding import patterns

SAMPLES = {
    patterns.URL: "https://example.com/",
    patterns.STREAM_URL: "wss://example.com/",
    patterns.PARTY: "+4721930000",
    patterns.NUMBER: "+4721930000",
    patterns.HEX_ID: "0" * 24,
    patterns.BRANCH: "1",
}
HOLDS = {
    patterns.URL: "address",
    patterns.STREAM_URL: "stream",
    patterns.PARTY: "party",
    patterns.NUMBER: "party",
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
            case inspect.StrType(pattern=pattern):
                if kind_of := HOLDS.get(pattern or ""):
                    yield steps, kind_of
                elif pattern == patterns.NAME and "data" not in steps:
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
