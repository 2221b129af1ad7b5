"""The RPC's own description, made from the shapes that it really decodes."""

from typing import Any

from msgspec.json import schema_components

from wire import agents, rpc
from wire.verbs import Action

_OPERATIONS: tuple[tuple[str, str, str, Any, Any, int], ...] = (
    ("post", "/calls", "Start a call", rpc.Originate, rpc.Started, 201),
    ("get", "/calls", "List the live calls", None, rpc.Calls, 200),
    ("get", "/calls/{call}", "Show a call", None, rpc.CallView, 200),
    ("post", "/calls/{call}/hangup", "End a call", rpc.HangupCall, rpc.CallView, 200),
    ("get", "/calls/{call}/timeline", "Tell a call's story", None, rpc.Timeline, 200),
    ("get", "/events", "Follow call events (text/event-stream)", None, None, 200),
    ("put", "/flows/{account}/{flow}", "Store a flow", Action, None, 200),
    ("get", "/flows/{account}/{flow}", "Show a flow", None, Action, 200),
    ("get", "/routes", "List number routes", None, None, 200),
    ("put", "/routes/{number}", "Route a number", rpc.NumberRoute, rpc.NumberRoute, 200),
    ("delete", "/routes/{number}", "Take a route away", None, None, 200),
    ("get", "/agents", "List an account's agents", None, agents.Agents, 200),
    ("get", "/agents/{account}/{agent}", "Show an agent", None, agents.AgentView, 200),
    ("put", "/agents/{account}/{agent}", "Store an agent", agents.Agent, agents.AgentView, 200),
    ("delete", "/agents/{account}/{agent}", "Take an agent out", None, None, 200),
    ("get", "/nodes", "List the PBX nodes", None, rpc.Nodes, 200),
)


def schema() -> dict[str, Any]:
    """Give the OpenAPI document."""
    shapes = [shape for each in _OPERATIONS for shape in (each[3], each[4]) if shape is not None]
    found, components = schema_components(
        [*shapes, rpc.Problem], ref_template="#/components/schemas/{name}"
    )
    refs = dict(zip(map(repr, [*shapes, rpc.Problem]), found, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for method, path, summary, asked, answered, status in _OPERATIONS:
        operation = _operation(summary, refs.get(repr(asked)), refs.get(repr(answered)), status)
        operation["parameters"] = _parameters(path)
        operation["responses"]["default"] = {
            "description": "What went wrong (RFC 9457)",
            "content": {"application/problem+json": {"schema": refs[repr(rpc.Problem)]}},
        }
        paths.setdefault(f"/rpc/v1{path}", {})[method] = operation
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


def _operation(summary: str, asked: Any, answered: Any, status: int) -> dict[str, Any]:
    content = {"application/json": {"schema": answered}} if answered else {}
    operation: dict[str, Any] = {
        "summary": summary,
        "responses": {str(status): {"description": summary, "content": content}},
    }
    if asked:
        operation["requestBody"] = {"content": {"application/json": {"schema": asked}}}
    return operation


def _parameters(path: str) -> list[dict[str, Any]]:
    names = (part[1:-1] for part in path.split("/") if part.startswith("{"))
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in names
    ]
