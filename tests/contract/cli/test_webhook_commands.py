"""`switchroom webhook` of a customer, over REST with the key of an account."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.contract.cli.fake_rest import FakeRest, problem

ATTEMPT = {
    "id": "1-0", "time": "2026-11-26T09:00:00.000Z", "kind": "action", "requestId": "c1.r0",
    "attempt": 1, "callId": "c1", "method": "POST", "url": "https://a.example/", "status": 200,
    "tookMs": 7, "outcome": "failed", "reason": "not_json", "retryOf": None, "toListener": True,
}  # fmt: skip
WHOLE = ATTEMPT | {
    "detail": "the body is not JSON",
    "requestHeaders": {"webhook-signature": "***"},
    "requestBody": {"text": '{"event":"start"}', "truncated": True},
    "responseHeaders": {"Server": "x"},
    "responseBody": {"text": "a bug", "truncated": False},
}


def page(*rows: Any, following: str | None = None) -> dict[str, Any]:
    """Return a page of attempts."""
    return {"data": list(rows), "limit": 50, "nextCursor": following}


async def test_a_list_continues_until_its_limit(tmp_path: Path) -> None:
    """Pages may be short: the cursor says whether there is more."""
    async with FakeRest() as rest:
        first = "GET /voice/webhooks?outcome=failed&limit=3"
        rest.responses[first] = page(ATTEMPT, following="1-0")
        second = "GET /voice/webhooks?outcome=failed&limit=3&cursor=1-0"
        rest.responses[second] = page(ATTEMPT | {"id": "0-9"})
        status, out, err = await rest.run(tmp_path, "webhook", "list", "--failed", "--limit", "3")
    assert (status, err) == (0, "")
    assert [method for method, *_ in rest.typed] == ["GET"] * 2
    for text in ("1-0", "0-9", "not_json, 7 ms, to a listener", "https://a.example/"):
        assert text in out


@pytest.mark.parametrize(
    ("words", "request_line"),
    [
        ("webhook show 1-0", "GET /voice/webhooks/1-0"),
        ("webhook retry 1-0", "POST /voice/webhooks/1-0/retry"),
    ],
)
async def test_one_attempt(tmp_path: Path, words: str, request_line: str) -> None:
    """It is shown with its headers and bodies; a repetition that failed exits with 1."""
    async with FakeRest() as rest:
        rest.responses[request_line] = WHOLE
        status, out, err = await rest.run(tmp_path, *words.split())
    assert (status, err) == (int("retry" in words), "")
    for text in (
        "the body is not JSON",
        "> POST https://a.example/",
        "> webhook-signature: ***",
        '{"event":"start"} …',
        "< 200",
        "< Server: x",
        "a bug",
    ):
        assert text in out


@pytest.mark.parametrize("output", ["table", "json", "yaml"])
async def test_attempts_are_followed_in_each_format(tmp_path: Path, output: str) -> None:
    """JSON is a line for each attempt, YAML a document, so that a program gets each at once."""
    path = "GET /voice/webhooks"
    async with FakeRest() as rest:
        rest.responses = {
            f"{path}?limit=1": page(),
            f"{path}?outcome=failed&after=0-0": page(ATTEMPT, ATTEMPT | {"id": "2-0"},
                                                     following="2-0"),
            f"{path}?outcome=failed&after=2-0": problem(403, "scope", "no more"),
        }  # fmt: skip
        words = ("webhook", "tail", "--outcome", "failed", "-o", output)
        status, out, err = await rest.run(tmp_path, *words)
    assert (status, "no more" in err) == (2, True)
    assert "the environment is in use" in err
    if output == "json":
        found = [json.loads(line)["id"] for line in out.splitlines()]
    elif output == "yaml":
        found = [each["id"] for each in yaml.safe_load_all(out)]
    else:
        found = [line.split()[1] for line in out.splitlines()]
    assert found == ["1-0", "2-0"]


async def test_both_names_of_a_filter(tmp_path: Path) -> None:
    """`--failed` is an outcome, so it goes with no other."""
    async with FakeRest() as rest:
        words = ("webhook", "list", "--failed", "--outcome", "succeeded")
        status, _, err = await rest.run(tmp_path, *words)
    assert (status, rest.requests) == (2, [])
    assert "--failed and --outcome succeeded exclude each other" in err


@pytest.mark.parametrize(("is_delivered", "expected"), [(True, 0), (False, 1)])
async def test_the_result_of_a_test_event_is_a_status(
    tmp_path: Path, *, is_delivered: bool, expected: int
) -> None:
    """A script can tell whether a target accepts events."""
    async with FakeRest() as rest:
        result = {"eventId": "test-1", "target": "https://a.example", "delivered": is_delivered}
        rest.responses["POST /voice/callbacks/test"] = result
        status, out, err = await rest.run(tmp_path, "callback", "test")
    assert (status, err) == (expected, "")
    assert "https://a.example" in out


async def test_a_repetition_that_succeeds(tmp_path: Path) -> None:
    """Its exit status is 0."""
    async with FakeRest() as rest:
        rest.responses["POST /voice/webhooks/1-0/retry"] = WHOLE | {"outcome": "succeeded"}
        status, _, err = await rest.run(tmp_path, "webhook", "retry", "1-0")
    assert (status, err) == (0, "")


async def test_what_cannot_be_repeated(tmp_path: Path) -> None:
    """The reason is printed."""
    async with FakeRest() as rest:
        detail = "the log does not have the whole request"
        rest.responses["POST /voice/webhooks/1-0/retry"] = problem(409, "not_repeatable", detail)
        status, _, err = await rest.run(tmp_path, "webhook", "retry", "1-0")
    assert status == 2
    assert detail in err
