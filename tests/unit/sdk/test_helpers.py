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
    VerificationFailed,
    gather,
    say,
)
from switchroom_sdk.receiver import MAX_BODY_BYTES, Receiver

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
MENU = "/menu/de%20at?attempt=2&name=a%2Fb"
PUBLIC_URL = "https://example.com/ivr"
SIGNED = {"secret": SIGNING_SECRET, "public_url": PUBLIC_URL}


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


def signed(
    body: bytes, path: str, secret: str = SIGNING_SECRET, public_url: str = PUBLIC_URL
) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        **Signer(secret).headers("r1", time.time(), body, public_url + path),
    }


def test_a_signed_request_is_served(app: Callable[..., Post]) -> None:
    """The handler gets the typed body; addresses in its tree are below the public URL."""
    reply = app(**SIGNED)("/answer", START, signed(START, "/answer"))
    assert reply.status == 200
    assert reply.body["data"] == {"text": "Hello, +1."}
    assert reply.body["action"]["action"] == f"{PUBLIC_URL}/menu"


def test_without_a_secret_addresses_are_at_the_servers_own_url(app: Callable[..., Post]) -> None:
    """The lab needs no settings."""
    headers = {"Content-Type": "application/json"}
    assert app(secret=())("/menu", DIGITS, headers).body == "http://ivr.example/sales"


@pytest.mark.parametrize(
    ("path", "public_url"),
    [
        ("/answer", "https://evil.example/ivr"),
        ("/answer", "http://example.com/ivr"),
        ("/answer", "http://ivr.example"),
        ("/menu", PUBLIC_URL),
        ("/answer?a=1", PUBLIC_URL),
    ],
)
def test_what_is_signed_for_another_address_is_401(
    app: Callable[..., Post], path: str, public_url: str
) -> None:
    """Another server's requests are worth nothing here, whatever `Host` they name."""
    headers = signed(START, path, public_url=public_url)
    host = {"Host": public_url.split("/")[2], "X-Forwarded-Host": "evil.example"}
    reply = app(**SIGNED)("/answer", START, headers | host)
    assert reply.status == 401
    assert reply.body["detail"].startswith("webhook-url-sha256: ")


@pytest.mark.parametrize("target", ["@evil.example/ivr", "https://evil.example/ivr", ""])
def test_the_target_of_a_request_is_a_path(target: str) -> None:
    """A request line may name another host, also behind a login."""
    receiver = Receiver(SIGNING_SECRET, PUBLIC_URL)
    headers = Signer(SIGNING_SECRET).headers("r1", time.time(), START, "https://evil.example/ivr")
    with pytest.raises(VerificationFailed, match="target"):
        receiver.read(ActionRequest, START, headers, "127.0.0.1", target)


def test_a_secret_needs_the_public_url(app: Callable[..., Post]) -> None:
    """Whoever sends a request chooses its `Host`: it says nothing about the address."""
    with pytest.raises(SwitchroomError, match=r"^public_url: SWITCHROOM_PUBLIC_URL"):
        app(secret=SIGNING_SECRET)


def test_nothing_to_add_is_an_empty_response(app: Callable[..., Post]) -> None:
    """None is 204: the call goes on without another action."""
    reply = app(**SIGNED)("/status", EVENT, signed(EVENT, "/status"))
    assert (reply.status, reply.body) == (204, None)


def test_another_signature_is_401(app: Callable[..., Post]) -> None:
    """The handler does not run, and the response says what is wrong."""
    other = signed(START, "/answer", "whsec_b3RoZXIgc2VjcmV0IG9mIGFub3RoZXI=")
    reply = app(**SIGNED)("/answer", START, other)
    assert (reply.status, list(reply.body)) == (401, ["detail"])
    assert app(**SIGNED)("/answer", START, {}).status == 401


def test_another_body_is_400(app: Callable[..., Post]) -> None:
    """A signed body that the handler does not expect is rejected."""
    assert app(**SIGNED)("/answer", DIGITS, signed(DIGITS, "/answer")).status == 400


def test_a_large_body_is_413(app: Callable[..., Post]) -> None:
    """No more than a megabyte is read."""
    large = b" " * (MAX_BODY_BYTES + 1)
    assert app(**SIGNED)("/answer", large, signed(large, "/answer")).status == 413


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
    webhooks = switchroom_sdk.fastapi.Webhooks(app, **SIGNED)

    @webhooks.post("/menu/{language}")
    def menu(result: GatherResult, request: fastapi.Request) -> Verb:
        attempt = request.query_params["attempt"]
        return say(f"{result.dtmf} {attempt} {request.path_params['language']}")

    client = TestClient(app)
    found = client.post(MENU, content=DIGITS, headers=signed(DIGITS, MENU))
    assert found.json()["data"] == {"text": "1 2 de at"}


def test_a_second_parameter_is_the_request_of_flask() -> None:
    """A part of the path is in `view_args`, and no argument of the handler."""
    app = flask.Flask("ivr")
    webhooks = switchroom_sdk.flask.Webhooks(app, **SIGNED)

    @webhooks.post("/menu/<language>")
    def menu(result: GatherResult, request: flask.Request) -> Verb:
        assert request.view_args is not None
        return say(f"{result.dtmf} {request.args['attempt']} {request.view_args['language']}")

    found = app.test_client().post(MENU, data=DIGITS, headers=signed(DIGITS, MENU))
    assert found.get_json()["data"] == {"text": "1 2 de at"}


def test_a_handler_without_types_gets_any_body(app: Callable[..., Post]) -> None:
    """Types are not required: with a request, too, the body is the first argument."""
    post = app(**SIGNED)
    assert post("/loose", DIGITS, signed(DIGITS, "/loose")).body == f"{PUBLIC_URL}/GatherResult"


def test_a_handler_has_one_parameter_or_two() -> None:
    """A handler that cannot be called is an error at start, not in a call."""
    webhooks = switchroom_sdk.flask.Webhooks(flask.Flask("ivr"), **SIGNED)
    with pytest.raises(TypeError, match="one parameter"):
        webhooks.post("/menu")(_without_body)
