"""The schemas of shapes, as components of an OpenAPI document."""

from typing import Any

from msgspec.json import schema_components

Schema = dict[str, Any]
_REFS = "#/components/schemas/{name}"


class Components:
    """The components that describe some shapes; None among them is no shape."""

    def __init__(self, *shapes: Any) -> None:
        known = [each for each in shapes if each is not None]
        schemas, components = schema_components(known, ref_template=_REFS)
        self.schemas: dict[str, Schema] = _without_nulls(components)
        found = map(_without_nulls, schemas)
        self._by_shape: dict[str, Schema] = dict(zip(map(repr, known), found, strict=True))

    def of(self, shape: Any) -> Schema:
        """Return the schema of a shape, which may refer to components."""
        return self._by_shape[repr(shape)]


def _without_nulls(schema: Any) -> Any:
    """Remove defaults of null, which say no more than that the field may be missing."""
    match schema:
        case dict():
            return {name: _without_nulls(each) for name, each in schema.items() if each is not None}
        case list() | tuple():  # a tuple: the default of a field
            return [_without_nulls(each) for each in schema]
        case _:
            return schema
