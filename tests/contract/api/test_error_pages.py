"""A problem's type leads to a page that the REST layer has itself."""

import re

import httpx2
import pytest

from tests.harness.api.rest import CUSTOMER, OURS, Rest
from wire.error_codes.page import PAGE_POLICY

LARGE = b"{" + b" " * 2_000_000 + b"}"
PAGES = "/docs/errors"


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("GET", "/nowhere", None, (404, "not_found", "Not found")),
        ("GET", "/srmain/cdr/3-pbx1-aaaaaaaa", None, (404, "not_found", "Not found")),
        ("DELETE", "/srmain/cdr", None, (405, "method_not_allowed", "Method not allowed")),
        ("GET", "/srmain/cdr?limit=x", None, (400, "invalid", "Invalid input")),
        ("POST", "/srmain/voice/call", b"[", (400, "invalid", "Invalid input")),
        ("POST", "/srmain/voice/call", LARGE, (413, "too_large", "Too large")),
        (
            "POST",
            "/srmain/voice/call",
            {"from": OURS, "to": CUSTOMER, "action": "http://example.com/menu"},
            (400, "insecure_url", "Insecure URL"),
        ),
        (
            "GET",
            "/srmain/cdr/me/today-stats",
            None,
            (400, "agent_required", "Agent's token required"),
        ),
    ],
)  # fmt: skip
async def test_the_type_of_a_problem_is_a_page(
    kept: Rest, method: str, path: str, body: object, expected: tuple[int, str, str]
) -> None:
    """Status, code and title are those of the table, on both databases."""
    answer = await kept.request(method, path, body)
    found = answer.json()
    assert (answer.status_code, found["code"], found["title"]) == expected
    assert {each["code"] for each in found.get("errors", [])} <= {found["code"]}
    await assert_page(kept, found["type"], found["code"])


async def test_each_field_has_its_code(rest: Rest) -> None:
    """Several errors of one request may have different codes."""
    body = {"from": OURS, "to": CUSTOMER, "action": {"type": "sayy"}, "timeout": "x"}
    found = (await rest.request("POST", "/srmain/voice/call", body)).json()
    codes = {each["path"]: each["code"] for each in found["errors"]}
    assert codes == {"action.type": "unknown_verb", "timeout": "invalid"}


async def test_without_a_token_it_is_the_same(kept: Rest) -> None:
    """The type of a 401 opens without a token, too."""
    answer = await kept.request("GET", "/srmain/cdr", token="wrong")  # noqa: S106 - of no one
    assert (answer.status_code, answer.json()["type"]) == (401, f"{PAGES}/unauthenticated")
    await assert_page(kept, answer.json()["type"], "unauthenticated")


async def assert_page(rest: Rest, address: str, code: str) -> httpx2.Response:
    """Check that an address is the page of a code, for a client without a token."""
    page = await rest.client.get(address)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert f"<h1><code>{code}</code>" in page.text
    return page


async def test_the_pages_are_public_and_load_nothing(rest: Rest) -> None:
    """The index leads to each; the policy forbids scripts, and other hosts do not occur."""
    index = await rest.client.get(PAGES)
    assert index.headers["content-security-policy"] == PAGE_POLICY
    for path in re.findall(rf'href="({PAGES}/[^"]+)"', index.text):
        page = await assert_page(rest, path, path.rpartition("/")[2])
        assert page.headers["content-security-policy"] == PAGE_POLICY
        assert "://" not in re.sub("(https?|wss)://</code>", "", page.text)


@pytest.mark.parametrize("path", [PAGES, f"{PAGES}/not_found"])
async def test_pages_may_be_kept_for_an_hour(rest: Rest, path: str) -> None:
    """They are the same for everybody; a page that does not exist is not kept."""
    page, missing = await rest.client.get(path), await rest.client.get(f"{PAGES}/nothing")
    assert page.headers["cache-control"] == "public, max-age=3600"
    assert missing.headers["cache-control"] == "no-store"


async def test_allow_has_all_methods_of_the_path(rest: Rest) -> None:
    """`Allow` has those of each operation of the path (RFC 9110, section 15.5.6)."""
    found = await rest.request("PUT", "/srmain/keys")
    assert (found.status_code, found.headers["allow"]) == (405, "GET, POST")
    assert found.json()["code"] == "method_not_allowed"


@pytest.mark.parametrize("path", [PAGES, f"{PAGES}/not_found"])
async def test_a_checker_of_links_may_send_head(rest: Rest, path: str) -> None:
    """A HEAD has the status and the length of the page, as at an engine."""
    head, page = await rest.client.head(path), await rest.client.get(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == page.headers["content-length"]


@pytest.mark.parametrize("code", ["nothing", "NOT_FOUND", "%00", "<script>", "status"])
async def test_an_unknown_code_is_not_found(rest: Rest, code: str) -> None:
    """The problem does not repeat what was requested."""
    answer = await rest.client.get(f"{PAGES}/{code}")
    assert (answer.status_code, "script" in answer.text) == (404, False)


async def test_the_document_has_types_that_open(rest: Rest) -> None:
    """Each example of a problem in the OpenAPI document has the type of its code."""
    document = (await rest.client.get("/openapi.json")).json()
    examples = {
        content["example"]["type"]: content["example"]["code"]
        for path in document["paths"].values()
        for operation in path.values()
        for response in operation["responses"].values()
        for kind, content in response.get("content", {}).items()
        if kind == "application/problem+json"
    }
    assert examples
    for address, code in examples.items():
        await assert_page(rest, address, code)
