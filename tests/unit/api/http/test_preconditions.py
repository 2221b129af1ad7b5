"""`If-Match` and `If-None-Match` of a request, and the ETag of a response."""

import httpx2
import pytest
from fastapi import FastAPI, Response

from api.common.errors import PreconditionFailed
from api.http.preconditions import ABSENT, IfMatch, Precondition, tagged_response
from api.http.problems import register_error_handlers


@pytest.fixture
def client() -> httpx2.AsyncClient:
    """Provide a client of a resource with version 7."""
    app = FastAPI()
    register_error_handlers(app)

    @app.put("/thing")
    async def put(condition: IfMatch) -> Response:
        condition.check(7)
        return tagged_response({"version": condition.version}, 8)

    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://api")


@pytest.mark.parametrize(
    ("headers", "version"),
    [
        ({}, None),
        ({"If-Match": '"7"'}, 7),
        ({"If-Match": '"7"', "X-Other": "*"}, 7),
        ({"If-Match": 'W/"7"'}, 7),  # nginx, as the next are of other proxies
        ({"If-Match": '"7-gzip"'}, 7),
        ({"If-Match": '"7-br"'}, 7),
        ({"If-Match": '"7--gzip"'}, 7),
        ({"If-Match": '"7;gzip"'}, 7),
        ({"If-Match": 'W/"7-zstd"'}, 7),
    ],
)
async def test_a_change_of_the_expected_version_is_made(
    client: httpx2.AsyncClient, headers: dict[str, str], version: int | None
) -> None:
    """Also by a tag that a proxy changed, or without one; the ETag is the new version."""
    answer = await client.put("/thing", headers=headers)
    assert (answer.status_code, answer.json()) == (200, {"version": version})
    assert answer.headers["ETag"] == '"8"'


@pytest.mark.parametrize(
    "headers", [{"If-Match": '"6"'}, {"If-Match": 'W/"6-gzip"'}, {"If-None-Match": "*"}]
)
async def test_another_version_is_a_problem(
    client: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    """412, with a code of its own."""
    answer = await client.put("/thing", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (412, "changed_meanwhile")


@pytest.mark.parametrize(
    ("headers", "path"),
    [
        ({"If-Match": "7"}, "If-Match"),
        ({"If-Match": '"7gzip"'}, "If-Match"),
        ({"If-Match": '"-gzip"'}, "If-Match"),
        ({"If-Match": '"7-8"'}, "If-Match"),
        ({"If-Match": '"6", "7"'}, "If-Match"),
        ({"If-Match": "*"}, "If-Match"),
        ({"If-Match": '"7"', "If-None-Match": "*"}, "If-Match"),
        ({"If-Match": "x" * 65}, "if-match"),
        ({"If-None-Match": '"7"'}, "If-None-Match"),
    ],
)
async def test_bad_headers(client: httpx2.AsyncClient, headers: dict[str, str], path: str) -> None:
    """A header that is no ETag of a response is named."""
    answer = await client.put("/thing", headers=headers)
    assert (answer.status_code, answer.json()["errors"][0]["path"]) == (400, path)


def test_a_resource_that_does_not_exist_has_version_0() -> None:
    """So `If-None-Match: *` creates it, and an ETag does not."""
    Precondition(0).check(0)
    with pytest.raises(PreconditionFailed):
        Precondition(7).check(0)


@pytest.mark.parametrize(
    ("expected", "version", "words"),
    [
        (ABSENT, 7, "there is such a resource already"),
        (6, ABSENT, "does not exist"),
        (6, 7, "has changed"),
    ],
)
def test_a_problem_says_what_differs(expected: int, version: int, words: str) -> None:
    """The resource is there, is not, or has another version."""
    with pytest.raises(PreconditionFailed, match=words):
        Precondition(expected).check(version)
