"""`/docs`: the OpenAPI document as a page to send requests from; it loads no file from a CDN."""

from pathlib import Path

import fastapi_offline
import msgspec
from fastapi import FastAPI, Request
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles

from api.http.pages.static_document import StaticDocument

FILES = "/docs/files"
DOCUMENT = "/openapi.json"


def serve_docs(app: FastAPI) -> None:
    """Serve the page and its files, and the document of all routes that the application has."""
    app.mount(FILES, StaticFiles(directory=Path(fastapi_offline.__file__).with_name("static")))
    document = StaticDocument.of(msgspec.json.encode(app.openapi()), "application/json")

    @app.api_route(DOCUMENT, methods=["GET", "HEAD"], include_in_schema=False)
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
