"""The call that a refused request names is noted, without the cost of its whole body."""

from typing import Any

import pytest
from fastapi import Request

from api.http.msgspec_adapter import MAX_REFUSED_BYTES, note_call

CALL = "0-pbx1-00000000"
LONG = b'{"callId":"%b","x":"' % CALL.encode() + b"x" * MAX_REFUSED_BYTES + b'"}'


@pytest.mark.parametrize(
    ("body", "query", "call", "reads"),
    [
        (b'{"callId":"0-pbx1-00000000","x":[{}],"x":1}', "", CALL, 1),
        (b"", f"callId={CALL}", CALL, 0),
        (b'{"callId":3}', "", None, 1),
        (b'{"callId":"%b"}' % (b"x" * 200), "", None, 1),
        (b"[" * 9_000, "", None, 1),
        (b"\xff", "", None, 1),
        (LONG, "", None, 0),
    ],
)
async def test_the_call_of_a_refused_request(
    body: bytes, query: str, call: str | None, reads: int
) -> None:
    """Of a small body, or of the query; a large body, or one without a length, is not read."""
    assert await noted(body, query, str(len(body))) == (call, reads)


@pytest.mark.parametrize("length", ["x", "-1", "9" * 5_000, "\xb2"])
async def test_a_body_without_a_length_is_not_read(length: str) -> None:
    """Nor one whose length is nonsense."""
    assert await noted(b'{"callId":"c"}', "", length) == (None, 0)


async def noted(body: bytes, query: str, length: str) -> tuple[str | None, int]:
    """Return the noted call, and how often the body was read."""
    reads = 0

    async def receive() -> dict[str, Any]:
        nonlocal reads
        reads += 1
        return {"type": "http.request", "body": body, "more_body": False}

    scope: dict[str, Any] = {
        "type": "http",
        "headers": [(b"content-length", length.encode("latin-1"))],
        "query_string": query.encode(),
        "state": {},
    }
    await note_call(Request(scope, receive))
    return scope["state"].get("call_id"), reads
