"""What one client or account may have at once, and the size of a request's body."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from types import SimpleNamespace

import pytest
from fastapi import FastAPI, Request, Response
from fastapi.routing import APIRoute
from starlette.types import Message

from api.app import create_routes
from api.auth.dependencies import ScopeCheck
from api.common.account_concurrency import AccountConcurrency
from api.common.errors import ServiceUnavailable, TooManyRequests
from api.config import LimitSettings
from api.http.body_limit import PUBLIC_BYTES, BodySize, LimitedRoute, PayloadTooLarge, of_request
from api.http.event_stream import MAX_READERS, reader_limit


@pytest.mark.parametrize(
    ("hold", "of_account", "of_all"),
    [
        (reader_limit(MAX_READERS + 1).hold, MAX_READERS, MAX_READERS + 1),
    ],
)
def test_what_an_account_may_hold(
    hold: Callable[[str], AbstractContextManager[None]], of_account: int, of_all: int
) -> None:
    """So many of one account, and so many of all; each has room again once one has ended."""
    for _repetition in range(2):
        with ExitStack() as stack:
            for _each in range(of_account - 1):
                stack.enter_context(hold("acme"))
            for _each in range(2):
                with hold("acme"), pytest.raises(TooManyRequests), hold("acme"):
                    pass
            stack.enter_context(hold("acme"))
            for _each in range(of_all - of_account):
                stack.enter_context(hold("other"))
            with pytest.raises(ServiceUnavailable) as full, hold("third"):
                pass
            assert full.value.retry_after_s


def test_requests_in_flight() -> None:
    """An account that has too many affects no other."""
    requests = AccountConcurrency("too_many_requests", "requests", of_account=2)
    for _repetition in range(2):
        requests.begin("acme")
    with pytest.raises(TooManyRequests):
        requests.begin("acme")
    requests.begin("other")
    requests.end("acme")
    requests.begin("acme")
    with pytest.raises(TooManyRequests):
        requests.begin("acme")


def of_seven(_settings: LimitSettings) -> int:
    return 7


@pytest.mark.parametrize(
    ("size", "limit"), [(None, PUBLIC_BYTES), (of_request, 1_024), (of_seven, 7)]
)
async def test_the_size_of_a_body(size: BodySize | None, limit: int) -> None:
    """A route has a limit, a small one if it says nothing; also for a body without a length."""
    assert await status_of(size, [limit], limit) == 200
    assert await status_of(size, [limit // 2] * 2) == 200
    with pytest.raises(PayloadTooLarge):
        await status_of(size, [], limit + 1)
    with pytest.raises(PayloadTooLarge):
        await status_of(size, [limit, 1])


async def status_of(size: BodySize | None, parts: Sequence[int], length: int | None = None) -> int:
    """Send the parts of a body to a route that reads them."""
    left, sent = list(parts), list[Message]()

    async def receive() -> Message:
        return {"type": "http.request", "body": bytes(left.pop(0)), "more_body": bool(left)}

    async def send(message: Message) -> None:
        sent.append(message)

    async def read(request: Request) -> Response:
        await request.body()
        return Response()

    headers = [] if length is None else [(b"content-length", str(length).encode())]
    services = SimpleNamespace(settings=LimitSettings(max_body_bytes=1_024))
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "headers": headers,
        "query_string": b"",
        "state": {"services": services},
    }
    routes = FastAPI()
    routes.router.route_class = LimitedRoute
    routes.router.add_api_route("/", read, methods=["POST"])
    (route,) = (each for each in routes.router.routes if isinstance(each, LimitedRoute))
    route.body_size = size
    await routes(scope, receive, send)
    return int(sent[0]["status"])


def test_every_route_limits_its_body() -> None:
    """Routes without a key take little, but for the platform's signed notifications."""
    routes = [each for each in create_routes(has_docs=True).routes if isinstance(each, APIRoute)]
    assert all(isinstance(each, LimitedRoute) for each in routes)
    larger = {each.path for each in routes if _is_public(each) and _size_of(each) is not None}
    assert larger == {"/srmain/msgapp-webhook"}


def _is_public(route: APIRoute) -> bool:
    return not any(isinstance(each.call, ScopeCheck) for each in route.dependant.dependencies)


def _size_of(route: APIRoute) -> BodySize | None:
    return route.body_size if isinstance(route, LimitedRoute) else None
