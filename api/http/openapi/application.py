"""The OpenAPI document: FastAPI's, with msgspec's schemas, and 400 where FastAPI has 422."""

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI

from api.http.openapi.operation import ALIAS_OF, ANY_SCOPE, COMPONENTS, SCOPE
from api.http.openapi.tags import TAGS
from api.http.openapi.webhook_documents import WEBHOOKS, webhook_documents
from wire.openapi.document import Tag, complete, info

UNPROCESSABLE = "422"
FASTAPI_ERRORS = ("HTTPValidationError", "ValidationError")  # our errors are problems
BEARER = "BearerToken"
_BEARER_SCHEME = {
    "type": "http",
    "scheme": "bearer",
    "description": "An access token, or in a lab an API key, with the prefix `Bearer`.",
}
_DESCRIPTION = "Voice calls, their control, and their records."


class Application(FastAPI):
    """An application whose OpenAPI document describes its real responses."""

    def openapi(self) -> dict[str, Any]:
        """Return the document; it is made once."""
        if self.openapi_schema is None:
            self.openapi_schema = _whole(super().openapi())
        return self.openapi_schema


def _whole(document: dict[str, Any]) -> dict[str, Any]:
    webhooks, components = webhook_documents()
    for path in document["paths"].values():
        for operation in path.values():
            _add(components, operation.pop(COMPONENTS, {}))
            _name_alias(operation, operation.pop(ALIAS_OF, None))
            _declare_security(operation, operation.pop(SCOPE, None))
            operation["responses"].pop(UNPROCESSABLE, None)
            _drop_empty_schemas(operation["responses"])
    found = document.setdefault("components", {})
    schemas = found.setdefault("schemas", {})
    for name in FASTAPI_ERRORS:
        schemas.pop(name, None)
    _add(schemas, components)
    found.setdefault("securitySchemes", {})[BEARER] = _BEARER_SCHEME
    tags = (*TAGS, Tag(WEBHOOKS, "Requests to customers' servers."))
    return complete(
        {
            **document,
            "info": info("Switchroom", _DESCRIPTION),
            "servers": [{"url": "/", "description": "This server"}],
            "tags": [each.document() for each in tags],
            "webhooks": webhooks,
        }
    )


def _add(components: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Add components; raises ValueError if two shapes have the same name."""
    for name, schema in more.items():
        if components.setdefault(name, schema) != schema:
            raise ValueError(f"two shapes have the name {name}")


def _name_alias(operation: dict[str, Any], of: str | None) -> None:
    if of is not None:
        text = f"Another path of `{of}`, which clients should use."
        operation["description"] = "\n\n".join(filter(None, (operation.get("description"), text)))


def _declare_security(operation: dict[str, Any], scope: str | None) -> None:
    """Name the scope with each scheme; a public operation has no scheme."""
    names = [*operation["security"][0], BEARER] if scope else []
    scopes = [] if scope == ANY_SCOPE else [scope]
    operation["security"] = [{name: scopes} for name in names]


def _drop_empty_schemas(responses: dict[str, Any]) -> None:
    """Remove FastAPI's empty JSON schema, which describes nothing."""
    for response in responses.values():
        content = response.get("content", {})
        if content.get("application/json") == {"schema": {}}:
            del content["application/json"]
