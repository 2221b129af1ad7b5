"""The JSON Schemas of documents that customers write, made from the shapes that are decoded."""

from typing import Any

from aiohttp import web
from msgspec.json import schema as of_shape

from engine.rpc.bodies import answer
from engine.rpc.problems import NotFound
from wire.flow import FlowDocument
from wire.request import ApiRequest

_TEMPLATED = r"\{\{[^{}]+\}\}"
_DATA = (
    "Confirm", "DialData", "FlowData", "GatherData", "MenuData", "PlayData",
    "RecordData", "SayData",
)  # fmt: skip
_DIALECT = {"$schema": "https://json-schema.org/draft/2020-12/schema"}


def documents() -> dict[str, dict[str, Any]]:
    """Give every published schema, by the name of its file."""
    flow = of_shape(FlowDocument)
    for name in _DATA:
        if name in flow["$defs"]:
            flow["$defs"][name] = _templated(flow["$defs"][name])
    return {
        "flow.json": {**_DIALECT, "title": "Flow", **flow},
        "request.json": {**_DIALECT, "title": "API request", **of_shape(ApiRequest)},
    }


async def schema_of(request: web.Request) -> web.Response:
    """Answer with a published schema."""
    name = request.match_info["name"]
    found = documents().get(name)
    if found is None:
        raise NotFound(f"no schema {name}")
    return answer(found)


def _templated(schema: Any) -> Any:
    """Let a template stand where a text of a pattern is wanted."""
    match schema:
        case {"type": "string", "pattern": _, **rest}:
            extra = {key: rest[key] for key in ("default", "description") if key in rest}
            plain = {key: each for key, each in schema.items() if key not in extra}
            return {"anyOf": [plain, {"type": "string", "pattern": _TEMPLATED}], **extra}
        case dict():
            return {key: _templated(each) for key, each in schema.items()}
        case list():
            return [_templated(each) for each in schema]
        case _:
            return schema
