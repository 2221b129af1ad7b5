"""Pages and documents of the product, the same for everybody."""

import gzip
import hashlib
from collections.abc import Mapping
from pathlib import Path

import fastapi_offline
import msgspec
from fastapi import FastAPI, Request
from fastapi.openapi.docs import get_swagger_ui_html
from msgspec import Struct
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles

from api.common.errors import NotFound
from wire.docs_address import ERROR_PATH
from wire.error_codes.catalogue import find_code
from wire.error_codes.page import PAGE_CACHING, error_index, error_page
from wire.schemas import DOCUMENTS

FILES = "/docs/files"
DOCUMENT = "/openapi.json"
_METHODS = ["GET", "HEAD"]  # checkers of links send HEAD
_MEDIA_TYPE = "application/schema+json"
_FOR_EDITORS = {"Access-Control-Allow-Origin": "*"}  # of others, which load it, too
_CONSOLE = "/console"
_HEADERS = {"Cache-Control": PAGE_CACHING}


def serve_docs(app: FastAPI) -> None:
    """Serve the page and its files, and the document of all routes that the application has."""
    app.mount(FILES, StaticFiles(directory=Path(fastapi_offline.__file__).with_name("static")))
    document = StaticDocument.of(msgspec.json.encode(app.openapi()), "application/json")

    @app.api_route(DOCUMENT, methods=_METHODS, include_in_schema=False)
    async def openapi(request: Request) -> Response:
        return document.response(request, {})

    page = get_swagger_ui_html(
        openapi_url=DOCUMENT,
        title=app.title,
        swagger_js_url=f"{FILES}/swagger-ui-bundle.js",
        swagger_css_url=f"{FILES}/swagger-ui.css",
        swagger_favicon_url=f"{FILES}/favicon.png",
    ).body

    # It knows nothing of the application: FastAPI keeps endpoints longer than that.
    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(page)


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


class StaticDocument(Struct, frozen=True):
    body: bytes
    compressed: bytes
    etag: str
    media_type: str

    @classmethod
    def of(cls, body: bytes, media_type: str) -> "StaticDocument":
        etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        return cls(body, gzip.compress(body, mtime=0), etag, media_type)

    def response(self, request: Request, more: Mapping[str, str]) -> Response:
        """Return the document as a client takes it; 304 if it has it."""
        headers = {
            **more,
            "Cache-Control": "public, no-cache",
            "ETag": self.etag,
            "Vary": "Accept-Encoding",
        }
        # without its last quote: a proxy that compresses may add the coding before that
        if self.etag[:-1] in request.headers.get("If-None-Match", ""):
            return Response(status_code=304, headers=headers)
        if "gzip" not in request.headers.get("Accept-Encoding", ""):
            return Response(self.body, headers=headers, media_type=self.media_type)
        headers["Content-Encoding"] = "gzip"
        return Response(self.compressed, headers=headers, media_type=self.media_type)


def serve_error_pages(app: FastAPI) -> None:
    """Serve the index and each code's page; the request middleware adds the content policy."""

    @app.api_route(ERROR_PATH, methods=_METHODS, include_in_schema=False)
    async def index() -> HTMLResponse:
        return HTMLResponse(error_index(_CONSOLE), headers=_HEADERS)

    @app.api_route(f"{ERROR_PATH}/{{code}}", methods=_METHODS, include_in_schema=False)
    async def page(code: str) -> HTMLResponse:
        found = find_code(code)
        if found is None:
            raise NotFound("no such error code")
        return HTMLResponse(error_page(found, _CONSOLE), headers=_HEADERS)
