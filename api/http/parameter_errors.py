"""Parameters that can't be read, told as faults of a body are: where, and what is allowed there."""

from collections.abc import Iterator
from typing import Any

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel

from wire.rpc import Fault

PLACES = frozenset({"body", "query", "path", "header", "cookie"})


def faults_of(error: RequestValidationError, request: Request) -> tuple[Fault, ...]:
    """Name each parameter that is wrong, and what is allowed."""
    return tuple(Fault(_path(each["loc"]), _told(each, request)) for each in error.errors())


def _told(fault: dict[str, Any], request: Request) -> str:
    if fault["type"] == "extra_forbidden":
        known = ", ".join(_parameters(request.scope["route"].dependant))
        return f"unknown parameter; one of {known}"
    return str(fault["msg"])


def _parameters(asked: Dependant) -> Iterator[str]:
    """Name what a route reads of a query, itself and by what it depends on."""
    for field in asked.query_params:
        shape = field.field_info.annotation
        if isinstance(shape, type) and issubclass(shape, BaseModel):
            yield from (each.alias or name for name, each in shape.model_fields.items())
        else:
            yield field.alias
    for each in asked.dependencies:
        yield from _parameters(each)


def _path(place: tuple[str | int, ...]) -> str:
    steps = place[1:] if place and place[0] in PLACES else place
    return ".".join(map(str, steps))
