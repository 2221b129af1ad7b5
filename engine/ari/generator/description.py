"""Asterisk's API description as values: Swagger 1.1 with a few additions."""

from pathlib import Path

import msgspec
from msgspec import Struct


class Allowed(Struct, frozen=True, rename="camel"):
    """The values a parameter or property may have; a range has none listed."""

    values: tuple[str, ...] = ()


class Parameter(Struct, frozen=True, rename="camel"):
    """One parameter of an operation, in its path, query or body."""

    name: str
    param_type: str
    data_type: str = "string"
    description: str = ""
    required: bool = False
    allow_multiple: bool = False
    allowable_values: Allowed = Allowed()


class Failure(Struct, frozen=True):
    """An error status of an operation; some codes are described as strings."""

    code: int | str
    reason: str = ""


class Operation(Struct, frozen=True, rename="camel"):
    """One method on one path."""

    http_method: str
    nickname: str
    summary: str = ""
    notes: str = ""
    response_class: str = "void"
    upgrade: str = ""
    parameters: tuple[Parameter, ...] = ()
    error_responses: tuple[Failure, ...] = ()


class Api(Struct, frozen=True):
    """One path and its operations."""

    path: str
    operations: tuple[Operation, ...] = ()


class Property(Struct, frozen=True, rename="camel"):
    """One field of a model."""

    type: str
    description: str = ""
    required: bool | None = False
    allowable_values: Allowed = Allowed()


class Model(Struct, frozen=True, rename="camel"):
    """One model; with subtypes, their base."""

    id: str
    description: str = ""
    discriminator: str = ""
    sub_types: tuple[str, ...] = ()
    properties: dict[str, Property] = {}


class Resource(Struct, frozen=True):
    """One file of the description."""

    apis: tuple[Api, ...] = ()
    models: dict[str, Model] = {}


def parse(text: bytes) -> Resource:
    """Parse one file; raises msgspec.DecodeError."""
    return msgspec.json.decode(text, type=Resource)


def read(folder: Path) -> dict[str, Resource]:
    """Read a folder by resource name, in order; the index file has no operations."""
    files = sorted(path for path in folder.glob("*.json") if path.stem != "resources")
    if not files:
        raise FileNotFoundError(f"no API description in {folder}")
    return {path.stem: parse(path.read_bytes()) for path in files}
