"""The published JSON Schemas, from the REST layer itself."""

import msgspec
import pytest

from tests.harness.api.rest import Rest
from wire.schemas import DOCUMENTS


@pytest.mark.parametrize("name", DOCUMENTS)
async def test_a_schema_is_public_and_the_codes(rest: Rest, name: str) -> None:
    """An editor needs no key for it."""
    found = await rest.client.get(f"/docs/schemas/{name}")
    assert (found.status_code, found.headers["content-type"]) == (200, "application/schema+json")
    assert found.json() == msgspec.json.decode(msgspec.json.encode(DOCUMENTS[name]()))


async def test_a_client_that_has_it_gets_it_no_more(rest: Rest) -> None:
    """With its ETag, the response has no body; each use compares, since an upgrade changes it."""
    first = await rest.client.get("/docs/schemas/flow.json")
    assert first.headers["cache-control"] == "public, no-cache"
    tag = first.headers["etag"]
    for known in (tag, f"W/{tag}", f'{tag[:-1]}-gzip"'):  # the last two are of proxies
        again = await rest.client.get("/docs/schemas/flow.json", headers={"If-None-Match": known})
        assert (again.status_code, again.content) == (304, b"")
    plain_only = {"Accept-Encoding": "identity"}
    plain = await rest.client.get("/docs/schemas/flow.json", headers=plain_only)
    assert plain.json() == first.json()


@pytest.mark.parametrize("name", ["nothing.json", "..%2f..%2fapp.py", "flow"])
async def test_another_name_is_not_found(rest: Rest, name: str) -> None:
    """The response names those that there are."""
    found = await rest.client.get(f"/docs/schemas/{name}")
    assert found.status_code == 404
