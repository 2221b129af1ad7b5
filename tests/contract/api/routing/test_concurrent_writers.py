"""Several writers of one document at the same time, over HTTP and on both databases."""

import asyncio
from typing import Any

import pytest

from tests.harness.api.rest import OURS, Rest
from tests.harness.rpc.scene import SAY

WRITERS = 6
DOCUMENTS = [
    (f"/srmain/voice/numbers/{OURS}/route", {"action": SAY}),
    ("/srmain/voice/flows/support", SAY),
    (f"/srmain/voice/requests/{'a' * 24}", {"url": "https://x.example/"}),
]


async def put_all(rest: Rest, path: str, body: object, headers: dict[str, str]) -> list[Any]:
    """Put a document many times at once; return the statuses in order."""
    puts = (rest.request("PUT", path, body, headers=headers) for _ in range(WRITERS))
    return sorted(each.status_code for each in await asyncio.gather(*puts))


@pytest.mark.parametrize(("path", "body"), DOCUMENTS, ids=("route", "flow", "request"))
async def test_of_many_writers_one_wins(kept: Rest, path: str, body: object) -> None:
    """The others get 412 if they name the version that they have read; else none does."""
    one = [200] + [412] * (WRITERS - 1)
    assert await put_all(kept, path, body, {"If-None-Match": "*"}) == one
    etag = (await kept.request("PUT", path, body)).headers["ETag"]
    assert await put_all(kept, path, body, {"If-Match": etag}) == one
    assert await put_all(kept, path, body, {}) == [200] * WRITERS
