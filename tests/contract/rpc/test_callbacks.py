"""Callback settings of accounts, over the RPC and by command: stored, shown, isolated."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.harness.cli.rest_shell import rest_shell
from tests.harness.rpc.preparation import bury
from tests.harness.rpc.scene import CALL, RpcScene
from wire.callbacks.targets import HttpsTarget
from wire.decoding.patterns import PATTERNS, STATUS_TARGET

TARGET = "https://example.com/status"


async def test_the_secret_is_shown_once(scene: RpcScene) -> None:
    """Only the first PUT and a rotation return the secret; a GET never does."""
    status, made = await scene.request("PUT", "/callbacks/acme", {"target": TARGET})
    assert status == 200
    assert made["secret"].startswith("whsec_")
    _, again = await scene.request("PUT", "/callbacks/acme", {"target": TARGET, "concurrency": 4})
    _, shown = await scene.request("GET", "/callbacks/acme")
    assert "secret" not in again | shown
    assert (shown["target"], shown["concurrency"]) == (TARGET, 4)
    _, rotated = await scene.request("POST", "/callbacks/acme/rotate")
    assert rotated["secret"] != made["secret"]
    assert rotated["previousUntilMs"] > rotated["madeMs"]


async def test_what_is_not_there(scene: RpcScene) -> None:
    """The callbacks of another account get 404, whether they exist or not."""
    await scene.request("PUT", "/callbacks/acme", {"target": TARGET})
    for method, path in (("GET", ""), ("DELETE", "")):
        assert await scene.problem(method, f"/callbacks/other{path}") == (404, "not_found")
    assert await scene.request("GET", "/callbacks/other/dead") == (200, {"deadLetters": []})
    assert (await scene.request("DELETE", "/callbacks/acme"))[0] == 200
    assert await scene.problem("GET", "/callbacks/acme") == (404, "not_found")


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"target": "http://example.com/"}, "target"),
        ({"target": "ftp://example.com/"}, "target"),
        ({"target": "auto-set"}, "target"),
        ({"target": "grpc://example.com:0"}, "target"),
        ({"target": "https://example.com:0/"}, "target"),
        ({"target": TARGET + "\n"}, "target"),
        ({"target": "0123456789abcdef01234567"}, "target"),
        ({"target": TARGET, "concurrency": 0}, "concurrency"),
        ({"target": TARGET, "perS": 0}, "perS"),
        ({"target": TARGET, "secret": "whsec_x"}, "secret"),
    ],
)
async def test_bad_configurations(scene: RpcScene, body: object, path: str) -> None:
    """Each error names its field."""
    status, problem = await scene.request("PUT", "/callbacks/acme", body)
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
    status, problem = await scene.request("PUT", "/routes/+4733333333", route)
    assert (status, problem["errors"][0]["path"]) == (400, "statusCallbackUrl")


async def test_auto_set_is_valid_on_every_account(scene: RpcScene) -> None:
    """Without a target of the account nothing is sent; with one, its events are."""
    for settings, key in ((None, ""), ({}, ""), ({"target": TARGET}, "acme auto-set")):
        if settings is not None:
            await scene.request("PUT", "/callbacks/acme", settings)
        call = await scene.start_call(statusCallbackUrl="auto-set")
        found = scene.service.find(call)
        assert found is not None
        assert found[1].call.delivery_key == key


async def test_dead_letters(scene: RpcScene) -> None:
    """They are listed by page for their account only, and resent by id or all at once."""
    await scene.request("PUT", "/callbacks/acme", {"target": TARGET})
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
    await scene.request("PUT", "/callbacks/acme", {"target": TARGET})
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
    await scene.request("DELETE", "/callbacks/acme")
    refused = await scene.problem("POST", "/callbacks/acme/resend", {"all": True})
    assert refused == (409, "no_target")
    await scene.request("PUT", "/callbacks/acme", {"target": TARGET})
    resent = await scene.request("POST", "/callbacks/acme/resend", {"all": True})
    assert resent == (200, {"resent": 2})


async def test_the_command(scene: RpcScene, tmp_path: Path) -> None:
    """`switchroom callback` sets, shows, rotates and deletes targets; it resends dead letters."""
    async with rest_shell(tmp_path, scene.url) as shell:

        async def typed(*words: str) -> tuple[int, str, str]:
            return await shell.run("callback", *words)

        _, out, _ = await typed("set", TARGET, "--per-second", "5")
        assert "whsec_" in out
        _, out, _ = await typed("show")
        assert TARGET in out
        assert "5 per second" in out
        assert "whsec_" not in out
        _, out, _ = await typed("rotate")
        assert "signs until" in out
        assert (await typed("dead"))[1] == "no dead letters\n"
        await bury(scene, 2)
        _, out, _ = await typed("dead")
        assert "overflow" in out
        dead_letter = out.splitlines()[1].split()[0]
        status, out, err = await typed("resend", dead_letter, "pbx1/0.1-1")
        assert (status, out) == (1, "1 requeued\n")
        assert "the others are not dead letters of this account" in err
        assert await typed("resend", "--all") == (0, "1 requeued\n", "")
        await bury(scene, 1)
        await scene.accounts.stop("acme", HttpsTarget(TARGET))
        status, _, err = await typed("resend", "--all")
        assert status == 2
        assert "the target of account acme is stopped" in err
        assert "`switchroom callback set TARGET` restarts delivery" in err
        assert (await typed("resend"))[0] == 2
        assert (await typed("rm"))[0] == 0
        assert (await typed("rm")) == (1, "", "switchroom: no such callbacks: of the account\n")
        status, _, err = await typed("show")
        assert status == 1
        assert "this account has no callback settings" in err


async def test_no_log_and_no_answer_has_a_secret(scene: RpcScene) -> None:
    """Neither the settings nor the list of dead letters contains it."""
    _, made = await scene.request("PUT", "/callbacks/acme", {"target": TARGET})
    shown = await asyncio.gather(
        scene.request("GET", "/callbacks/acme"), scene.request("GET", "/callbacks/acme/dead")
    )
    assert made["secret"] not in json.dumps(shown)
