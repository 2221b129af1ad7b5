"""The public pages of error codes, to which a problem's `type` leads."""

from aiohttp import web

from engine.rpc.problems import problem_response
from wire.docs_address import ERROR_PATH
from wire.error_codes.catalogue import find_code
from wire.error_codes.page import PAGE_CACHING, PAGE_POLICY, error_index, error_page
from wire.error_codes.problems import coded_problem

_HEADERS = {
    "Cache-Control": PAGE_CACHING,
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
}


def error_page_routes() -> list[web.RouteDef]:
    """Return the routes of the index and of each code's page."""

    async def index(_request: web.Request) -> web.Response:
        return _page(error_index())

    async def page(request: web.Request) -> web.Response:
        found = find_code(request.match_info["code"])
        if found is None:
            return problem_response(coded_problem(404, "not_found", "no such error code"))
        return _page(error_page(found))

    return [web.get(ERROR_PATH, index), web.get(f"{ERROR_PATH}/{{code}}", page)]


def _page(text: str) -> web.Response:
    return web.Response(text=text, content_type="text/html", charset="utf-8", headers=_HEADERS)
