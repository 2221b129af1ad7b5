"""The OpenAPI document of the RPC, built from the shapes that it decodes."""

import asyncio
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from aiohttp import web

from engine.rpc import operations
from engine.rpc.json_body import json_response
from engine.rpc.operation import Operation
from engine.rpc.operations import OPERATIONS
from engine.rpc.problems import NotFound
from wire import rpc
from wire.openapi.document import Tag, complete, info
from wire.openapi.responses import Components, any_problem, problem_responses, success_response
from wire.schemas import DOCUMENTS


class Group(NamedTuple):
    """Operations under one heading; their ids begin with the noun."""

    noun: str
    tag: Tag
    operations: tuple[Operation, ...]


_CALLS = Tag("Calls", "Start calls, list them, and control them leg by leg.")
_RECORDINGS = Tag("Recordings", "Recordings of live calls, and archived files.")
_EVENTS = Tag("Events", "The events of all calls, and consumer groups that read them.")
_CALLBACKS = Tag("Callbacks", "Targets of events, and dead letters.")
_DOCUMENTS = Tag("Documents", "Documents of accounts, which one writer sends to the engines.")
GROUPS = (
    Group("calls", _CALLS, (*operations.CALLS, *operations.AUDIT, *operations.CONTROL)),
    Group("callRecording", _RECORDINGS, operations.RECORDING),
    Group("streams", Tag("Streams", "Bots in live calls."), operations.STREAMS),
    Group("recordings", _RECORDINGS, operations.RECORDING_FILES),
    Group("transfers", Tag("Transfers", "Transfers of a customer."), operations.TRANSFERS),
    Group("conferences", Tag("Conferences", "Members of conferences."), operations.CONFERENCES),
    Group("agents", Tag("Agents", "The directory of agents, and phones."), operations.AGENTS),
    Group("checks", _DOCUMENTS, operations.DOCUMENT_CHECKS),
    Group("events", _EVENTS, operations.EVENTS),
    Group("endedCalls", _EVENTS, operations.ENDED_CALLS),
    Group("consumerGroups", _EVENTS, operations.CONSUMER_GROUPS),
    Group("callbacks", _CALLBACKS, operations.CALLBACKS),
    Group("deadLetters", _CALLBACKS, operations.DEAD_LETTERS),
    Group("listeners", Tag("Listeners", "Webhooks in development."), operations.LISTENERS),
    Group("webhooks", Tag("Webhook log", "Attempts to reach servers."), operations.WEBHOOK_LOG),
    Group(
        "dialPolicies", Tag("Dial policies", "What accounts may call."), operations.DIAL_POLICIES
    ),
    Group("documents", _DOCUMENTS, operations.DOCUMENTS),
    Group("schemas", Tag("Schemas", "JSON Schemas of documents."), operations.SCHEMAS),
    Group("endedCalls", Tag("Erasure", "Removal of personal data."), operations.ERASURE),
    Group("nodes", Tag("Nodes", "PBX nodes."), operations.NODES),
    Group("slots", Tag("Slots", "Slots of the nodes."), operations.SLOTS),
    Group("engines", Tag("Engines", "Engines and their shards."), operations.ENGINES),
    Group("store", Tag("Store", "The state of the store."), operations.STORE),
    Group("doctor", Tag("Doctor", "Checks of the installation."), operations.DOCTOR),
    Group("peers", Tag("Peers", "What engines request of each other."), operations.PEERS),
)
_VERBS = {"originate": "create", "published_schema": "get"}  # by handler, where they differ


@cache
def openapi_document() -> dict[str, Any]:
    shapes = [shape for each in OPERATIONS for shape in (each.request, each.response)]
    components = Components(*shapes, rpc.Problem)
    paths: dict[str, dict[str, Any]] = {}
    for group in GROUPS:
        for one in group.operations:
            path = paths.setdefault(f"/rpc/v1{one.path}", {})
            path[one.method] = _operation(group, one, components)
    return complete(
        {
            "openapi": "3.1.0",
            "info": info("Switchroom engine RPC", "For the REST layer and for operators."),
            "servers": [{"url": "/", "description": "This engine"}],
            "security": [{"token": []}],
            "tags": [each.document() for each in _tags()],
            "paths": paths,
            "components": {
                "schemas": components.schemas,
                "securitySchemes": {
                    "token": {
                        "type": "http",
                        "scheme": "bearer",
                        "description": "SWITCHROOM_RPC_TOKEN of the engines.",
                    }
                },
            },
        }
    )


def _tags() -> Iterator[Tag]:
    yield from dict.fromkeys(group.tag for group in GROUPS)


def operation_id(group: Group, one: Operation) -> str:
    """Return a noun and a verb, as clients name the method."""
    verb = _VERBS.get(one.handler, one.handler)
    return f"{group.noun}.{re.sub('_([a-z])', lambda found: found[1].upper(), verb)}"


def _operation(group: Group, one: Operation, components: Components) -> dict[str, Any]:
    problem = components.of(rpc.Problem)
    success = success_response(one.status, one.response, components)
    statuses = {400, 401, 503, *((404,) if "{" in one.path else ())}
    if one.method != "get":
        statuses |= {409, 429}
    operation: dict[str, Any] = {
        "operationId": operation_id(group, one),
        "tags": [group.tag.name],
        "summary": one.summary,
        "description": f"{one.summary}.",
        "parameters": _parameters(one.path),
        "responses": {
            str(one.status): success,
            **problem_responses(statuses, problem),
            "default": any_problem(problem),
        },
    }
    if one.request is not None:
        content = {"application/json": {"schema": components.of(one.request)}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _parameters(path: str) -> list[dict[str, Any]]:
    names = (part[1:-1] for part in path.split("/") if part.startswith("{"))
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in names
    ]


async def openapi(_request: web.Request) -> web.Response:
    return json_response(await asyncio.to_thread(openapi_document))


async def published_schema(request: web.Request) -> dict[str, Any]:
    name = request.match_info["name"]
    if name not in DOCUMENTS:
        raise NotFound(f"no schema {name}; one of {', '.join(DOCUMENTS)}")
    return DOCUMENTS[name]()
