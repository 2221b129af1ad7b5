"""`/docs`: the OpenAPI document as a page to send requests from; it loads no file from a CDN."""

from pathlib import Path

import fastapi_offline
from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.responses import HTMLResponse
from starlette.staticfiles import StaticFiles

FILES = "/docs/files"


def serve_docs(app: FastAPI) -> None:
    """Serve the page and its files."""
    app.mount(FILES, StaticFiles(directory=Path(fastapi_offline.__file__).with_name("static")))

    page = get_swagger_ui_html(
        openapi_url="/openapi.json",
        title=app.title,
        swagger_js_url=f"{FILES}/swagger-ui-bundle.js",
        swagger_css_url=f"{FILES}/swagger-ui.css",
        swagger_favicon_url=f"{FILES}/favicon.png",
    ).body

    # It knows nothing of the application: FastAPI keeps endpoints longer than that.
    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(page)
