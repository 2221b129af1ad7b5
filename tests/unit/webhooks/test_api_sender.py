"""API requests that cannot be filled in."""

from aiohttp import ClientSession

from tests.harness.webhooks.api_requests import failure
from wire.request import ApiRequest


async def test_a_header_cannot_be_split(session: ClientSession) -> None:
    """A value with a line break is not sent."""
    request = ApiRequest("http://127.0.0.1:1/", headers={"X": "{{custom.x}}"})
    assert await failure(session, request, custom__x="a\r\nHost: b") == "bad_request"


async def test_too_much_is_not_sent(session: ClientSession) -> None:
    """A request that is too large when filled in is not sent."""
    request = ApiRequest("http://127.0.0.1:1/", "POST", json=["{{custom.x}}"] * 20)
    assert await failure(session, request, custom__x="x" * 20_000) == "bad_request"


async def test_headers_have_a_limit_together(session: ClientSession) -> None:
    """Each may be as long as its text allows, and there may be many."""
    headers = {f"X-{number}": "{{custom.x}}" * 10 for number in range(10)}
    request = ApiRequest("http://127.0.0.1:1/", headers=headers)
    assert await failure(session, request, custom__x="x" * 1_000) == "bad_request"
