"""`switchroom webhook` of a customer, over REST with the key of an account."""

from pathlib import Path
from typing import Any

import pytest

from tests.contract.cli.fake_rest import FakeRest, problem

ATTEMPT = {
    "id": "1-0", "time": "2026-11-26T09:00:00.000Z", "kind": "action", "requestId": "c1.r0",
    "attempt": 1, "callId": "c1", "method": "POST", "url": "https://a.example/", "status": 200,
    "tookMs": 7, "outcome": "failed", "reason": "not_json", "retryOf": None, "toListener": True,
}  # fmt: skip
WHOLE = ATTEMPT | {
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
        second = "GET /voice/webhooks?outcome=failed&cursor=1-0&limit=2"
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
        ("webhooks show 1-0", "GET /voice/webhooks/1-0"),
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
        "> POST https://a.example/",
        "> webhook-signature: ***",
        '{"event":"start"} …',
        "< 200",
        "< Server: x",
        "a bug",
    ):
        assert text in out


async def test_what_cannot_be_repeated(tmp_path: Path) -> None:
    """The reason is printed."""
    async with FakeRest() as rest:
        detail = "the log does not have the whole request"
        rest.responses["POST /voice/webhooks/1-0/retry"] = problem(409, "not_repeatable", detail)
        status, _, err = await rest.run(tmp_path, "webhook", "retry", "1-0")
    assert status == 2
    assert detail in err
