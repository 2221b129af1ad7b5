"""What the Python client makes of responses that are none of this API."""

from collections.abc import Callable

import httpx2
import pytest
from switchroom_sdk import ApiError, ConnectionFailed, Switchroom

Respond = Callable[[httpx2.Request], httpx2.Response]


def requested(respond: Respond, account: str = "") -> None:
    """Send a request to a server that responds like this."""
    http = httpx2.Client(transport=httpx2.MockTransport(respond))
    url = "https://voice.example"
    with Switchroom(
        base_url=url, api_key="k", account=account, api_secret=account, http=http
    ) as it:
        it.request("POST", "/numbers")


@pytest.mark.parametrize("errors", ["x", ["x"], [None], {"a": 1}, 5])
def test_a_problem_of_a_gateway_may_have_another_form(errors: object) -> None:
    """Errors of fields are read from our form only; the status remains."""
    with pytest.raises(ApiError) as error:
        requested(lambda _: httpx2.Response(400, json={"errors": errors}))
    assert (error.value.status, error.value.errors) == (400, ())


@pytest.mark.parametrize("content", [b"<html>", b"", b"\xff", b'{"a":' * 100_000])
def test_a_body_that_is_no_json_is_an_error(content: bytes) -> None:
    """However deep it is."""
    with pytest.raises(ApiError, match="200 invalid_response"):
        requested(lambda _: httpx2.Response(200, content=content))


def test_a_body_that_cannot_be_unpacked_is_an_error_of_the_sdk() -> None:
    """The text names the server."""
    broken = {"Content-Encoding": "gzip"}
    with pytest.raises(ConnectionFailed, match=r"https://voice\.example"):
        requested(lambda _: httpx2.Response(200, content=b"no gzip", headers=broken))


@pytest.mark.parametrize("token", [{}, {"accessToken": 5}])
def test_a_response_without_a_token_is_an_error(token: object) -> None:
    """The request itself is not sent."""
    with pytest.raises(ApiError, match="invalid_response"):
        requested(lambda _: httpx2.Response(200, json=token), account="acme")


def test_a_redirection_is_not_followed() -> None:
    """The key goes to no other host."""
    hosts = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        hosts.append(request.url.host)
        return httpx2.Response(307, headers={"Location": "https://other.example/"})

    with pytest.raises(ApiError, match="307"):
        requested(respond)
    assert hosts == ["voice.example"]
