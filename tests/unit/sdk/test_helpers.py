"""FastAPI and Flask: signed requests reach their handlers, others do not."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import fastapi
import flask
import pytest
import switchroom_sdk.fastapi
import switchroom_sdk.flask
from fastapi import FastAPI
from fastapi.testclient import TestClient
from switchroom_sdk import (
    ActionRequest,
    CallEvent,
    GatherResult,
    SwitchroomError,
    Verb,
    gather,
    say,
)
from switchroom_sdk.receiver import MAX_BODY_BYTES

from engine.webhooks.signatures import Signer
from tests.harness.signing import SIGNING_SECRET

START = (
    b'{"callId":"c1","event":"start","from":"+1","to":"+2","direction":"inbound",'
    b'"accountId":"acme","channelId":"c1.l0"}'
)
DIGITS = b'{"callId":"c1","dtmf":"1","to":{"channelId":"c1.l0"},"reason":"max-digits"}'
EVENT = (
    b'{"id":"e1","event":"initiated","sequenceNumber":0,"timestamp":1,"callId":"c1",'
    b'"accountId":"acme","callStatus":"initiated","direction":"inbound","from":"+1","to":"+2"}'
)


class Reply:
    """The response of either framework."""

    def __init__(self, status: int, body: Any) -> None:
        self.status = status
        self.body = body


Post = Callable[[str, bytes, Mapping[str, str]], Reply]


def fastapi_app(**options: Any) -> Post:
    app = FastAPI()
    serve(switchroom_sdk.fastapi.Webhooks(app, **options))
    client = TestClient(app, base_url="http://ivr.example", client=("127.0.0.1", 1))

    def post(path: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        found = client.post(path, content=body, headers=dict(headers))
        return Reply(found.status_code, found.json() if found.content else None)

    return post


def flask_app(**options: Any) -> Post:
    app = flask.Flask("ivr")
    serve(switchroom_sdk.flask.Webhooks(app, **options))
    client = app.test_client()

    def post(path: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        found = client.post(path, data=body, headers=dict(headers), base_url="http://ivr.example")
        return Reply(found.status_code, found.json if found.data else None)

    return post


def serve(webhooks: switchroom_sdk.fastapi.Webhooks | switchroom_sdk.flask.Webhooks) -> None:
    """Add the handlers that the tests request."""

    @webhooks.post("/answer")
    def answer(call: ActionRequest) -> Verb:
        return say(f"Hello, {call.from_}.").then(gather(action="/menu"))

    @webhooks.post("/menu")
    def menu(result: GatherResult) -> str | None:
        return "/sales" if result.dtmf == "1" else None

    @webhooks.post("/loose")
    def loose(body, _request):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - untyped
        return f"/{type(body).__name__}"

    @webhooks.post("/status")
    def status(event: CallEvent) -> None:
        pass


@pytest.fixture(params=[fastapi_app, flask_app])
def app(request: pytest.FixtureRequest) -> Callable[..., Post]:
    """Make an application of either framework."""
    made: Callable[..., Post] = request.param
    return made


def signed(body: bytes, secret: str = SIGNING_SECRET) -> dict[str, str]:

    return {
        "Content-Type": "application/json",
        **Signer(secret).headers("r1", time.time(), body),
    }


def test_a_signed_request_is_served(app: Callable[..., Post]) -> None:
    """The handler gets the typed body; addresses in its tree are at the server's own URL."""
    reply = app(secret=SIGNING_SECRET)("/answer", START, signed(START))
    assert reply.status == 200
    assert reply.body["data"] == {"text": "Hello, +1."}
    assert reply.body["action"]["action"] == "http://ivr.example/menu"


def test_the_public_url_goes_before_that_of_the_request(app: Callable[..., Post]) -> None:
    """Behind a proxy the server does not know its address."""
    post = app(secret=SIGNING_SECRET, public_url="https://example.com/ivr")
    assert post("/menu", DIGITS, signed(DIGITS)).body == "https://example.com/ivr/sales"


def test_nothing_to_add_is_an_empty_response(app: Callable[..., Post]) -> None:
    """None is 204: the call goes on without another action."""
    reply = app(secret=SIGNING_SECRET)("/status", EVENT, signed(EVENT))
    assert (reply.status, reply.body) == (204, None)


def test_another_signature_is_401(app: Callable[..., Post]) -> None:
    """The handler does not run, and the response says what is wrong."""
    other = signed(START, "whsec_b3RoZXIgc2VjcmV0IG9mIGFub3RoZXI=")
    reply = app(secret=SIGNING_SECRET)("/answer", START, other)
    assert (reply.status, list(reply.body)) == (401, ["detail"])
    assert app(secret=SIGNING_SECRET)("/answer", START, {}).status == 401


def test_another_body_is_400(app: Callable[..., Post]) -> None:
    """A signed body that the handler does not expect is rejected."""
    assert app(secret=SIGNING_SECRET)("/answer", DIGITS, signed(DIGITS)).status == 400


def test_a_large_body_is_413(app: Callable[..., Post]) -> None:
    """No more than a megabyte is read."""
    large = b" " * (MAX_BODY_BYTES + 1)
    assert app(secret=SIGNING_SECRET)("/answer", large, signed(large)).status == 413


def test_without_a_secret_only_this_machine_is_served(app: Callable[..., Post]) -> None:
    """A request that a proxy has forwarded comes from elsewhere."""
    post = app(secret=())
    headers = {"Content-Type": "application/json"}
    assert post("/answer", START, headers).status == 200
    assert post("/answer", START, {**headers, "X-Forwarded-For": "192.0.2.1"}).status == 401


def test_an_empty_secret_is_an_error(app: Callable[..., Post]) -> None:
    """A variable without a value does not switch off the verification."""
    with pytest.raises(SwitchroomError, match=r"^secret: it is empty"):
        app(secret="")


def _without_body(*, option: int = 0, other: int = 0) -> None:
    """Return nothing; a handler that expects no body."""


def test_a_second_parameter_is_the_request_of_fastapi() -> None:
    """It has the query and the path; the body is verified and typed as without it."""
    app = FastAPI()
    webhooks = switchroom_sdk.fastapi.Webhooks(app, secret=SIGNING_SECRET)

    @webhooks.post("/menu/{language}")
    def menu(result: GatherResult, request: fastapi.Request) -> Verb:
        attempt = request.query_params["attempt"]
        return say(f"{result.dtmf} {attempt} {request.path_params['language']}")

    client = TestClient(app)
    found = client.post("/menu/de?attempt=2", content=DIGITS, headers=signed(DIGITS))
    assert found.json()["data"] == {"text": "1 2 de"}


def test_a_second_parameter_is_the_request_of_flask() -> None:
    """A part of the path is in `view_args`, and no argument of the handler."""
    app = flask.Flask("ivr")
    webhooks = switchroom_sdk.flask.Webhooks(app, secret=SIGNING_SECRET)

    @webhooks.post("/menu/<language>")
    def menu(result: GatherResult, request: flask.Request) -> Verb:
        assert request.view_args is not None
        return say(f"{result.dtmf} {request.args['attempt']} {request.view_args['language']}")

    found = app.test_client().post("/menu/de?attempt=2", data=DIGITS, headers=signed(DIGITS))
    assert found.get_json()["data"] == {"text": "1 2 de"}


def test_a_handler_without_types_gets_any_body(app: Callable[..., Post]) -> None:
    """Types are not required: with a request, too, the body is the first argument."""
    post = app(secret=SIGNING_SECRET, public_url="https://example.com")
    assert post("/loose", DIGITS, signed(DIGITS)).body == "https://example.com/GatherResult"


def test_a_handler_has_one_parameter_or_two() -> None:
    """A handler that cannot be called is an error at start, not in a call."""
    webhooks = switchroom_sdk.flask.Webhooks(flask.Flask("ivr"), secret=SIGNING_SECRET)
    with pytest.raises(TypeError, match="one parameter"):
        webhooks.post("/menu")(_without_body)
