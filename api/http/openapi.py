"""The OpenAPI document: FastAPI's, with msgspec's schemas, and 400 where FastAPI has 422."""

from typing import Any

from fastapi import FastAPI
from msgspec.json import schema_components

from api.http.msgspec_adapter import COMPONENTS, REFS, SCOPE
from wire.rpc import Problem

UNPROCESSABLE = "422"
FASTAPI_ERRORS = ("HTTPValidationError", "ValidationError")  # our errors are problems


class Application(FastAPI):
    """An application whose OpenAPI document describes its real responses."""

    def openapi(self) -> dict[str, Any]:
        document = super().openapi()
        (problem,), components = schema_components([Problem], ref_template=REFS)
        for path in document["paths"].values():
            for operation in path.values():
                components.update(operation.pop(COMPONENTS, {}))
                if scope := operation.pop(SCOPE, None):
                    operation["security"] = [{name: [scope] for name in operation["security"][0]}]
                _replace_422(operation["responses"], problem)
                _drop_empty_schemas(operation["responses"])
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        for name in FASTAPI_ERRORS:
            schemas.pop(name, None)
        schemas.update(components)
        return document


def _replace_422(responses: dict[str, Any], problem: dict[str, Any]) -> None:
    if responses.pop(UNPROCESSABLE, None):
        content = {"application/problem+json": {"schema": problem}}
        responses.setdefault("400", {"description": "Invalid input", "content": content})


def _drop_empty_schemas(responses: dict[str, Any]) -> None:
    """Remove FastAPI's empty JSON schema where another content type is described."""
    for response in responses.values():
        content = response.get("content", {})
        if len(content) > 1 and content.get("application/json") == {"schema": {}}:
            del content["application/json"]
