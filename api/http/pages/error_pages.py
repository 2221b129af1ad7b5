"""The public pages of error codes, to which a problem's `type` leads."""

from fastapi import FastAPI
from starlette.responses import HTMLResponse

from api.common.errors import NotFound
from wire.docs_address import ERROR_PATH
from wire.error_codes.catalogue import find_code
from wire.error_codes.page import PAGE_CACHING, error_index, error_page

_CONSOLE = "/console"
_METHODS = ["GET", "HEAD"]  # checkers of links send HEAD
_HEADERS = {"Cache-Control": PAGE_CACHING}


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
