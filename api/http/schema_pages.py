"""`/docs/schemas`: the published JSON Schemas, for editors and other programs."""

import gzip
import hashlib

import msgspec
from fastapi import FastAPI, Request
from msgspec import Struct
from starlette.responses import Response

from api.common.errors import NotFound
from wire.schemas import DOCUMENTS

_METHODS = ["GET", "HEAD"]


class _Schema(Struct, frozen=True):
    body: bytes
    compressed: bytes
    etag: str


def serve_schemas(app: FastAPI) -> None:
    """Serve each schema; a client that has it compares its ETag, since an upgrade changes it."""
    schemas = {name: _schema(msgspec.json.encode(schema())) for name, schema in DOCUMENTS.items()}

    @app.api_route("/docs/schemas/{name}", methods=_METHODS, include_in_schema=False)
    async def schema(name: str, request: Request) -> Response:
        found = schemas.get(name)
        if found is None:
            raise NotFound(f"no such schema; there are {', '.join(schemas)}")
        headers = {
            "Access-Control-Allow-Origin": "*",  # editors of others load it, too
            "Cache-Control": "public, no-cache",
            "ETag": found.etag,
            "Vary": "Accept-Encoding",
        }
        # without its last quote: a proxy that compresses may add the coding before that
        if found.etag[:-1] in request.headers.get("If-None-Match", ""):
            return Response(status_code=304, headers=headers)
        media_type = "application/schema+json"
        if "gzip" not in request.headers.get("Accept-Encoding", ""):
            return Response(found.body, headers=headers, media_type=media_type)
        headers["Content-Encoding"] = "gzip"
        return Response(found.compressed, headers=headers, media_type=media_type)


def _schema(body: bytes) -> _Schema:
    etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
    return _Schema(body, gzip.compress(body, mtime=0), etag)
