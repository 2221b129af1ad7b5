"""The OpenAPI document of the RPC, built from the shapes that it decodes."""

from typing import Any

from aiohttp import web
from msgspec.json import schema_components

from engine.rpc.json_body import json_response
from engine.rpc.operations import OPERATIONS, Operation
from engine.rpc.problems import NotFound
from wire import rpc
from wire.schemas import DOCUMENTS


def openapi_document() -> dict[str, Any]:
    shapes = [
        each for one in OPERATIONS for each in (one.request, one.response) if each is not None
    ]
    shapes.append(rpc.Problem)
    found, components = schema_components(shapes, ref_template="#/components/schemas/{name}")
    refs = dict(zip(map(repr, shapes), found, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for one in OPERATIONS:
        paths.setdefault(f"/rpc/v1{one.path}", {})[one.method] = _operation(one, refs)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Switchroom engine RPC", "version": "1.0"},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(one: Operation, refs: dict[str, Any]) -> dict[str, Any]:
    response = refs.get(repr(one.response))
    content = {"application/json": {"schema": response}} if response else {}
    operation: dict[str, Any] = {
        "summary": one.summary,
        "parameters": _parameters(one.path),
        "responses": {
            str(one.status): {"description": one.summary, "content": content},
            "default": {
                "description": "Problem details (RFC 9457)",
                "content": {"application/problem+json": {"schema": refs[repr(rpc.Problem)]}},
            },
        },
    }
    if one.request is not None:
        body = refs[repr(one.request)]
        operation["requestBody"] = {"content": {"application/json": {"schema": body}}}
    return operation


def _parameters(path: str) -> list[dict[str, Any]]:
    names = (part[1:-1] for part in path.split("/") if part.startswith("{"))
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in names
    ]


async def openapi(_request: web.Request) -> web.Response:
    return json_response(openapi_document())


async def published_schema(request: web.Request) -> dict[str, Any]:
    name = request.match_info["name"]
    if name not in DOCUMENTS:
        raise NotFound(f"no schema {name}; one of {', '.join(DOCUMENTS)}")
    return DOCUMENTS[name]()
