"""Who may use a gateway, and what its errors look like."""

import json

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from streams.control.problems import authentication, problems
from streams.control.table import NoRoom
from wire.decoding.errors import BadInput, InputErrors

TOKENS = ("a" * 32, "b" * 32)


async def answer(_request: web.Request) -> web.Response:
    """Answer a request that is allowed."""
    return web.Response(status=204)


@pytest.mark.parametrize(
    ("error", "status", "code", "headers"),
    [
        (BadInput("bot.url", "is no URL"), 400, "invalid", {}),
        (InputErrors((BadInput("bot.url", "is no URL"),)), 400, "invalid", {}),
        (NoRoom("full"), 503, "unavailable", {"Retry-After": "1"}),
        (web.RequestPayloadError("no gzip"), 400, "invalid", {}),
        (web.HTTPNotFound(), 404, "not_found", {}),
        (web.HTTPMethodNotAllowed("GET", ["PUT"]), 405, "method_not_allowed", {"Allow": "PUT"}),
        (RuntimeError("a fault"), 500, "internal", {}),
    ],
)
async def test_an_error_is_a_problem(
    error: Exception, status: int, code: str, headers: dict[str, str]
) -> None:
    """With its code, and the headers of its status; of a fault of the gateway it says nothing."""

    async def fail(_request: web.Request) -> web.Response:
        raise error

    response = await problems(make_mocked_request("PUT", "/streams/x"), fail)
    assert isinstance(response, web.Response)
    assert isinstance(response.body, bytes)
    body = json.loads(response.body)
    assert (response.status, body["status"], body["code"]) == (status, status, code)
    assert response.content_type == "application/problem+json"
    assert {name: response.headers.get(name) for name in headers} == headers
    assert ("errors" in body) is isinstance(error, BadInput | InputErrors)
    assert "a fault" not in str(body)


async def test_who_has_gone_gets_no_problem() -> None:
    """It is no fault of the gateway."""

    async def fail(_request: web.Request) -> web.Response:
        raise ConnectionResetError

    response = await problems(make_mocked_request("GET", "/reports"), fail)
    assert response.status == 200


@pytest.mark.parametrize(
    ("path", "given", "status"),
    [
        ("/reports", f"Bearer {TOKENS[0]}", 204),
        ("/reports", f"Bearer {TOKENS[1]}", 204),
        ("/reports", TOKENS[0], 401),
        ("/reports", None, 401),
        ("/healthz", None, 204),
        ("/healthz/x", None, 401),
    ],
)
async def test_requests_need_one_of_the_tokens(path: str, given: str | None, status: int) -> None:
    """But for open paths; a request without one learns how to give it."""
    check = authentication(TOKENS, {"/healthz"})
    headers = {} if given is None else {"Authorization": given}
    response = await check(make_mocked_request("GET", path, headers=headers), answer)
    assert response.status == status
    assert response.headers.get("WWW-Authenticate") == ("Bearer" if status == 401 else None)
