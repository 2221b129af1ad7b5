"""What a client of the Python SDK reads from the environment, and when it repeats a request."""

import json
from collections.abc import Mapping
from typing import Any, get_args

import pytest
from switchroom_sdk import ApiError, ConnectionFailed, InvalidField, SwitchroomError, say, stream
from switchroom_sdk.client.request import Request
from switchroom_sdk.client.retry import Retry
from switchroom_sdk.client.settings import ClientSettings
from switchroom_sdk.generated.models import AnsweredDetection

from tests.harness.calls.fields_of_verbs import fields_of, path_of, put, sample
from wire.base import tag_of
from wire.decoding.errors import type_info
from wire.flow import Node
from wire.verbs import Verb

BASE = "https://example.com"
ENVIRON = {
    "SWITCHROOM_API_URL": "https://voice.example.com/",
    "SWITCHROOM_API_KEY": "key",
    "SWITCHROOM_API_SECRET": "secret",
    "SWITCHROOM_ACCOUNT": "acme",
    "SWITCHROOM_PUBLIC_URL": "https://example.com",
}
CREATE = Request("POST", ("call",), body={}, is_idempotent=True)
HANGUP = Request("POST", ("hangup",), body={})
SHOW = Request("GET", ("call",))


def test_the_environment_has_all_settings() -> None:
    """With account and secret, tokens are used."""
    found = ClientSettings.read(environ=ENVIRON)
    assert (found.base_url, found.public_url) == (
        "https://voice.example.com",
        "https://example.com",
    )
    assert found.uses_tokens


def test_a_key_is_not_mixed_with_the_environments_secret() -> None:
    """A key that is given is sent as it is, unless its own secret is given, too."""
    assert not ClientSettings.read(api_key="other", environ=ENVIRON).uses_tokens
    given = ClientSettings.read(api_key="other", api_secret="s", account="a", environ=ENVIRON)  # noqa: S106 - no secret
    assert given.uses_tokens


def test_without_a_key_the_error_says_what_to_set() -> None:
    """The server has a default, a key has none."""
    with pytest.raises(SwitchroomError, match="SWITCHROOM_API_KEY"):
        ClientSettings.read(environ={})
    assert ClientSettings.read(api_key="key", environ={}).base_url == "http://127.0.0.1:8000"


def test_settings_show_no_secrets() -> None:
    """What is printed by accident has neither key nor secret."""
    assert "secret'" not in repr(ClientSettings.read(environ=ENVIRON))
    assert "key=" not in repr(ClientSettings.read(environ=ENVIRON))


@pytest.mark.parametrize(
    ("request_", "error", "delay_s"),
    [
        (SHOW, ApiError(503, "no_node", ""), 0.5),
        (SHOW, ApiError(503, "no_node", "", retry_after_s=3), 3),
        (SHOW, ApiError(503, "no_node", "", retry_after_s=60), None),
        (SHOW, ApiError(500, "internal", ""), None),
        (SHOW, ApiError(404, "not_found", ""), None),
        (SHOW, ConnectionFailed("down"), 0.5),
        (CREATE, ConnectionFailed("down"), 0.5),
        (CREATE, ApiError(502, "http_502", ""), 0.5),
        (HANGUP, ApiError(502, "http_502", ""), None),
        (HANGUP, ConnectionFailed("down"), None),
        (HANGUP, ConnectionFailed("down", is_sent=False), 0.5),
        (HANGUP, ApiError(429, "call_rate", "", retry_after_s=1), 1),
    ],
)
def test_a_request_is_repeated_where_that_is_safe(
    request_: Request, error: SwitchroomError, delay_s: float | None
) -> None:
    """A POST without a key that is read may have had its effect."""
    retry = Retry(request_, has_token=False)
    if delay_s is None:
        with pytest.raises(type(error)):
            retry.delay_after(error)
    else:
        assert retry.delay_after(error) == delay_s


def test_there_are_three_attempts() -> None:
    """The third failure is the caller's."""
    retry = Retry(SHOW, has_token=False)
    error = ApiError(503, "no_node", "")
    assert [retry.delay_after(error), retry.delay_after(error)] == [0.5, 1.0]
    with pytest.raises(ApiError):
        retry.delay_after(error)


def test_an_expired_token_is_replaced_once() -> None:
    """A new token that is rejected, too, is no reason for another one."""
    error = ApiError(401, "unauthenticated", "")
    retry = Retry(HANGUP, has_token=True)
    assert retry.delay_after(error) == 0
    assert retry.needs_token
    with pytest.raises(ApiError):
        retry.delay_after(error)
    with pytest.raises(ApiError):
        Retry(HANGUP, has_token=False).delay_after(error)


def test_a_post_has_a_new_key_unless_one_is_given() -> None:
    """Each request has its own; a GET has none."""
    keys = {CREATE.headers()["Idempotency-Key"] for _ in range(2)}
    assert len(keys) == 2
    given = Request("POST", ("call",), is_idempotent=True, idempotency_key="order-4711")
    assert given.headers()["Idempotency-Key"] == "order-4711"
    assert SHOW.headers() == {}


def test_a_path_is_escaped() -> None:
    """A value cannot leave its segment, and no value is an error."""
    for each in ("", ".", ".."):
        with pytest.raises(InvalidField, match="is no id"):
            _ = Request("GET", ("numbers", each)).target
    assert Request("GET", ("numbers", "+47/../x")).target == "/numbers/%2B47%2F..%2Fx"


def sent(body: Mapping[str, Any], public_url: str | None = BASE) -> Any:
    """Return what a request with a body sends."""
    return json.loads(Request("PUT", ("x",), body=body).content(public_url) or b"")


OWN = {"action": "/a", "fallback": "/f", "data": {"audioUrl": ["/b"]}, "list": [{"onError": "/e"}]}
STREAM = {"type": "stream", "data": {"url": "wss://x.example", "parameters": {"action": "/a"}}}


@pytest.mark.parametrize(
    "body",
    [
        {"customData": OWN},
        {"contact": OWN},
        {"labels": OWN},
        {"url": "/x", "json": OWN, "answers": OWN, "headers": OWN, "form": OWN},
        {"action": STREAM, "fallback": STREAM},
        STREAM,
        {"start": "n", "nodes": {"n": STREAM, "action": {"type": "set", "variables": OWN}}},
        {"data": OWN, "list": [OWN]},
    ],
)
def test_your_own_data_is_sent_as_it_is(body: Mapping[str, Any]) -> None:
    """Its names mean nothing to the SDK: no base is needed, and none is used."""
    assert sent(body) == sent(body, None) == body


@pytest.mark.parametrize(
    ("container", "kind", "steps", "holds"),
    [
        pytest.param(name, each, steps, holds, id=f"{name}-{tag_of(each)}-{path_of(steps)}")
        for name, union in (("action", Verb), ("nodes", Node))
        for each in get_args(union)
        for steps, holds in dict.fromkeys(fields_of(type_info(each)))
        if holds in {"address", "verb"}
    ],
)
def test_each_address_in_a_body_is_resolved(
    container: str, kind: Any, steps: tuple[str | int, ...], holds: str
) -> None:
    """The fields are found by the engine's types: in trees, and in the nodes of flows."""

    def body(address: str) -> dict[str, Any]:
        value = {"type": "hangup", "action": address} if holds == "verb" else address
        document = put(sample(type_info(kind)), type_info(kind), steps, value)
        return {container: {"n": document} if container == "nodes" else document}

    assert sent(body("/x")) == body(f"{BASE}/x")


def test_addresses_beside_a_tree_are_resolved() -> None:
    """Those of webhooks and machine detection; a chain is a tree wherever it is."""
    chain, absolute = say("Hello.", action="/x"), say("Hello.", action=f"{BASE}/x").to_dict()
    assert sent(
        {
            "action": "/x",
            "fallback": chain,
            "machineDetection": AnsweredDetection(on_machine="/x"),
            "other": [chain],
        }
    ) == {
        "action": f"{BASE}/x",
        "fallback": absolute,
        "machineDetection": {"onMachine": f"{BASE}/x"},
        "other": [absolute],
    }
    own = {"action": "/x"}
    assert sent({"action": stream("wss://x.example", parameters=own)}, None)["action"]["data"] == {
        "url": "wss://x.example",
        "parameters": own,
    }
