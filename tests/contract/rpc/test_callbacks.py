"""Callback settings of accounts, over the RPC: shown and isolated; dead letters."""

import json

import pytest

from tests.harness.rpc.preparation import bury
from tests.harness.rpc.scene import CALL, RpcScene
from wire.callbacks.targets import HttpsTarget
from wire.decoding.patterns import PATTERNS, STATUS_TARGET

TARGET = "https://example.com/status"


async def test_settings_are_shown_without_secrets(scene: RpcScene) -> None:
    """As engines apply them; those of another account get 404, whether they exist or not."""
    made = await scene.documents.callback("acme", {"target": TARGET, "concurrency": 4})
    _, shown = await scene.request("GET", "/callbacks/acme")
    assert (shown["target"], shown["concurrency"]) == (TARGET, 4)
    assert made["secret"] not in json.dumps(shown)
    assert "stopped" not in shown
    await scene.accounts.stop("acme", HttpsTarget(TARGET))
    assert (await scene.request("GET", "/callbacks/acme"))[1]["stopped"]
    assert await scene.problem("GET", "/callbacks/other") == (404, "not_found")
    assert await scene.request("GET", "/callbacks/other/dead") == (200, {"deadLetters": []})
    await scene.documents.change_callback("acme", "remove")
    assert await scene.problem("GET", "/callbacks/acme") == (404, "not_found")


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"target": "http://example.com/"}, "target"),
        ({"target": "ftp://example.com/"}, "settings.target"),
        ({"target": "auto-set"}, "settings.target"),
        ({"target": "grpc://example.com:0"}, "target"),
        ({"target": "https://example.com:0/"}, "target"),
        ({"target": TARGET + "\n"}, "settings.target"),
        ({"target": "0123456789abcdef01234567"}, "target"),
        ({"target": TARGET, "concurrency": 0}, "settings.concurrency"),
        ({"target": TARGET, "perS": 0}, "settings.perS"),
        ({"target": TARGET, "secret": "whsec_x"}, "settings.secret"),
    ],
)
async def test_bad_configurations(scene: RpcScene, body: object, path: str) -> None:
    """Each error names its field."""
    draft = {"change": "put", "settings": body}
    status, problem = await scene.request("POST", "/callbacks/acme/draft", draft)
    assert (status, problem["errors"][0]["path"]) == (400, path)


FORMS, PORT = PATTERNS[STATUS_TARGET], "a host, and a port of 1 to 65535"


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("https://example.com/", FORMS),
        ("http://example.com/", FORMS),
        ("auto", FORMS),
        ("grpc://x y", FORMS),
        ("grpc://user@example.com:1", FORMS),
        ("grpc://example.com:99999", PORT),
        ("zz" * 12, FORMS),
        ("0" * 23, FORMS),
    ],
)
async def test_bad_targets_of_a_call(scene: RpcScene, target: str, expected: str) -> None:
    """An invalid target is rejected with the allowed forms."""
    request = {**CALL, "statusCallbackUrl": target}
    status, problem = await scene.request("POST", "/calls", request)
    (fault,) = problem["errors"]
    assert (status, fault["path"]) == (400, "statusCallbackUrl")
    assert fault["message"] == f"expected {expected}"
    route = {"account": "acme", "action": "https://x.example/", "statusCallbackUrl": target}
    status, problem = await scene.request("POST", "/routes/+4733333333/check", route)
    assert (status, problem["errors"][0]["path"]) == (400, "statusCallbackUrl")


async def test_auto_set_is_valid_on_every_account(scene: RpcScene) -> None:
    """Without a target of the account nothing is sent; with one, its events are."""
    for settings, key in ((None, ""), ({}, ""), ({"target": TARGET}, "acme auto-set")):
        if settings is not None:
            await scene.documents.callback("acme", settings)
            await scene.accounts.reread("acme")
        call = await scene.start_call(statusCallbackUrl="auto-set")
        found = scene.service.find(call)
        assert found is not None
        assert found[1].call.delivery_key == key


async def test_dead_letters(scene: RpcScene) -> None:
    """They are listed by page for their account only, and resent by id or all at once."""
    await scene.documents.callback("acme", {"target": TARGET})
    await bury(scene, 150)
    _, first = await scene.request("GET", "/callbacks/acme/dead")
    after = first["deadLetters"][-1]["id"]
    _, rest = await scene.request("GET", f"/callbacks/acme/dead?after={after}")
    assert (len(first["deadLetters"]), first["more"], len(rest["deadLetters"])) == (100, True, 50)
    dead_letter = first["deadLetters"][0]
    assert (dead_letter["reason"], dead_letter["target"]) == ("overflow", "auto-set")
    assert dead_letter["event"]["id"] == dead_letter["eventId"]
    ids = [each["id"] for each in rest["deadLetters"][:2]]
    assert await scene.request("POST", "/callbacks/other/resend", {"ids": ids}) == (
        200,
        {"resent": 0},
    )
    assert await scene.request("POST", "/callbacks/acme/resend", {"ids": ids}) == (
        200,
        {"resent": 2},
    )
    assert await scene.request("POST", "/callbacks/acme/resend", {"ids": ids}) == (
        200,
        {"resent": 0},
    )
    assert await scene.request("POST", "/callbacks/acme/resend", {"all": True}) == (
        200,
        {"resent": 148},
    )
    for bad in ({}, {"ids": ["x"]}, {"ids": ids, "all": True}):
        assert (await scene.problem("POST", "/callbacks/acme/resend", bad))[0] == 400
    assert (await scene.problem("GET", "/callbacks/acme/dead?after=x"))[0] == 400


async def test_nothing_is_sent_again_to_who_takes_nothing(scene: RpcScene) -> None:
    """A stopped or missing target gets no resends; other targets of dead letters do."""
    await scene.documents.callback("acme", {"target": TARGET})
    await bury(scene, 2)
    await bury(scene, 1, "grpc://x.example:5000")
    _, dead = await scene.request("GET", "/callbacks/acme/dead")
    ids = {each["target"]: [each["id"]] for each in dead["deadLetters"]}
    await scene.accounts.stop("acme", HttpsTarget(TARGET))
    for request in ({"all": True}, {"ids": ids["auto-set"]}):
        status, problem = await scene.request("POST", "/callbacks/acme/resend", request)
        assert (status, problem["code"]) == (409, "stopped")
        assert "the target of account acme is stopped" in problem["detail"]
    own = {"ids": ids["grpc://x.example:5000"]}
    assert await scene.request("POST", "/callbacks/acme/resend", own) == (200, {"resent": 1})
    await scene.documents.change_callback("acme", "remove")
    await scene.accounts.reread("acme")
    refused = await scene.problem("POST", "/callbacks/acme/resend", {"all": True})
    assert refused == (409, "no_target")
    await scene.documents.callback("acme", {"target": TARGET})
    await scene.accounts.reread("acme")
    resent = await scene.request("POST", "/callbacks/acme/resend", {"all": True})
    assert resent == (200, {"resent": 2})
