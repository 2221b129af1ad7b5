"""A problem's type leads to a page that the engine has itself."""

import pytest

from tests.harness.rpc.scene import TOKEN, RpcScene
from wire.error_codes.page import PAGE_POLICY

AUTH = {"Authorization": f"Bearer {TOKEN}"}


@pytest.mark.parametrize(
    ("method", "path", "headers", "expected"),
    [
        ("GET", "calls", {}, (401, "unauthenticated", "User not authenticated")),
        ("GET", "no/such", AUTH, (404, "not_found", "Not found")),
        ("DELETE", "calls", AUTH, (405, "method_not_allowed", "Method not allowed")),
        ("GET", "calls/3-pbx1-aaaaaaaa", AUTH, (404, "not_found", "Not found")),
        ("POST", "calls", AUTH, (400, "invalid", "Invalid input")),
    ],
)
async def test_the_type_of_a_problem_is_a_page(
    scene: RpcScene, method: str, path: str, headers: dict[str, str], expected: tuple[int, str, str]
) -> None:
    """Status, code and title are those of the table; the page needs no token."""
    url = f"{scene.url}/rpc/v1/{path}"
    async with scene.session.request(method, url, headers=headers) as reply:
        found = await reply.json(content_type=None)
    assert (reply.status, found["code"], found["title"]) == expected
    assert ("Allow" in reply.headers) == (reply.status == 405)
    async with scene.session.get(f"{scene.url}{found['type']}") as page:
        assert (page.status, page.content_type) == (200, "text/html")
        assert page.headers["Content-Security-Policy"] == PAGE_POLICY
        assert page.headers["Cache-Control"] == "public, max-age=3600"
        assert f"<h1><code>{found['code']}</code>" in await page.text()


async def test_an_unknown_code_is_not_found(scene: RpcScene) -> None:
    """The index has all that there are."""
    async with scene.session.get(f"{scene.url}/docs/errors/nothing") as reply:
        assert reply.status == 404
    async with scene.session.get(f"{scene.url}/docs/errors") as reply:
        assert "/docs/errors/call_ended" in await reply.text()
