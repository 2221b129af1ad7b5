"""The JSON Schemas that are published, by the names of their files."""

from aiohttp import web

from engine.rpc.json_body import answer
from engine.rpc.problems import NotFound
from wire.schemas import DOCUMENTS


async def schema_of(request: web.Request) -> web.Response:
    """Answer with a published schema."""
    name = request.match_info["name"]
    if name not in DOCUMENTS:
        raise NotFound(f"no schema {name}; one of {', '.join(DOCUMENTS)}")
    return answer(DOCUMENTS[name]())
