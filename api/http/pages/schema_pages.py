"""`/docs/schemas`: the published JSON Schemas, for editors and other programs."""

import msgspec
from fastapi import FastAPI, Request
from starlette.responses import Response

from api.common.errors import NotFound
from api.http.pages.static_document import StaticDocument
from wire.schemas import DOCUMENTS

_METHODS = ["GET", "HEAD"]
_MEDIA_TYPE = "application/schema+json"
_FOR_EDITORS = {"Access-Control-Allow-Origin": "*"}  # of others, which load it, too


def serve_schemas(app: FastAPI) -> None:
    """Serve each schema; a client that has it compares its ETag, since an upgrade changes it."""
    schemas = {
        name: StaticDocument.of(msgspec.json.encode(schema()), _MEDIA_TYPE)
        for name, schema in DOCUMENTS.items()
    }

    @app.api_route("/docs/schemas/{name}", methods=_METHODS, include_in_schema=False)
    async def schema(name: str, request: Request) -> Response:
        found = schemas.get(name)
        if found is None:
            raise NotFound(f"no such schema; there are {', '.join(schemas)}")
        return found.response(request, _FOR_EDITORS)
