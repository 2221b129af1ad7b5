"""The OpenAPI document: FastAPI's, with the shapes of msgspec, and 400 where FastAPI has 422."""

from typing import Any

from fastapi import FastAPI
from msgspec.json import schema_components

from api.http.msgspec_adapter import COMPONENTS, REFS
from wire.rpc import Problem

UNPROCESSABLE = "422"
_OURS = ("HTTPValidationError", "ValidationError")  # of FastAPI: we answer with problems


class Application(FastAPI):
    """An application whose document says what it really answers."""

    def openapi(self) -> dict[str, Any]:
        """Put the document together."""
        made = super().openapi()
        (problem,), shapes = schema_components([Problem], ref_template=REFS)
        for path in made["paths"].values():
            for operation in path.values():
                shapes.update(operation.pop(COMPONENTS, {}))
                _answer_problems(operation["responses"], problem)
        schemas = made.setdefault("components", {}).setdefault("schemas", {})
        for name in _OURS:
            schemas.pop(name, None)
        schemas.update(shapes)
        return made


def _answer_problems(responses: dict[str, Any], problem: dict[str, Any]) -> None:
    if responses.pop(UNPROCESSABLE, None):
        content = {"application/problem+json": {"schema": problem}}
        responses.setdefault("400", {"description": "Invalid input", "content": content})
    _let_bodies_win(responses)


def _let_bodies_win(responses: dict[str, Any]) -> None:
    """Take FastAPI's empty schema from where a shape says more."""
    for response in responses.values():
        content = response.get("content", {})
        if len(content) > 1 and content.get("application/json") == {"schema": {}}:
            del content["application/json"]
