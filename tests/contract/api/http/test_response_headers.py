"""Headers of responses: the next page of a list, what is left of a limit, how to authenticate."""

import re
from urllib.parse import urlencode

import httpx2

from tests.harness.api.cdrs.lists import REQUIRED
from tests.harness.api.cdrs.records import record, write_calls
from tests.harness.api.rest import Rest
from tools.docs.reference.openapi import DOCUMENTS


async def pages(rest: Rest, path: str) -> list[httpx2.Response]:
    """Get a list, following its links."""
    found = [await rest.request("GET", path)]
    while link := found[-1].headers.get("link"):
        following = re.fullmatch(r'<(/[^>]+)>; rel="next"', link)
        assert following, link
        found.append(await rest.request("GET", following[1]))
    return found


async def test_links_lead_through_a_list_by_offset(rest: Rest) -> None:
    """Each page but the last has a link, and together they have each row once."""
    for number in ("+4721930007", "+4721930008"):
        await rest.services.accounts.add_number("acme", number)
    found = await pages(rest, "/srmain/voice/numbers?limit=1")
    rows = [each["number"] for page in found for each in page.json()["data"]]
    assert rows == ["+4721930000", "+4721930007", "+4721930008"]


async def test_links_lead_through_a_list_by_cursor(rest: Rest) -> None:
    """A list with a cursor has it in the link, and other parameters stay."""
    calls = [record(each, after_ms=each * 1_000) for each in range(3)]
    await write_calls(rest.services.database, *calls)
    query = urlencode({**REQUIRED, "limit": 2, "offset": 0})
    found = await pages(rest, f"/srmain/cdr?{query}")
    assert [len(each.json()["data"]) for each in found] == [2, 1]
    assert "limit=2" in found[0].headers["link"]
    assert "offset=0" in found[0].headers["link"]


async def test_each_response_says_how_many_requests_are_left(rest: Rest) -> None:
    """What is left is at most the limit; a rejected request has the headers, too."""
    for path, status in (("/srmain/account", 200), ("/srmain/cdr/none", 404)):
        answer = await rest.request("GET", path)
        assert answer.status_code == status
        assert answer.headers["ratelimit-policy"] == '"requests";q=400;w=2'
        left = re.fullmatch(r'"requests";r=(\d+);t=(\d+)', answer.headers["ratelimit"])
        assert left, answer.headers["ratelimit"]
        assert 0 < int(left[1]) < 400


async def test_a_stranger_learns_no_limit(rest: Rest) -> None:
    """Without a key the response says how to authenticate, and nothing of an account."""
    answer = await rest.request("GET", "/srmain/account", token="wrong")  # noqa: S106 - no secret
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "ratelimit" not in answer.headers


async def test_the_rpc_says_how_to_authenticate(rest: Rest) -> None:
    """Its 401 has the scheme of its document."""
    async with rest.scene.session.get(f"{rest.scene.url}/rpc/v1/nodes") as answer:
        assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "Bearer")


def test_the_documents_list_the_headers() -> None:
    """A client that is generated knows the headers of each response."""
    for document in (each() for each in DOCUMENTS.values()):
        for item in document["paths"].values():
            for operation in item.values():
                responses = operation["responses"]
                for status, name in (
                    ("401", "WWW-Authenticate"),
                    ("429", "Retry-After"),
                    ("503", "Retry-After"),
                ):
                    assert name in responses.get(status, {"headers": [name]})["headers"]
    listed = DOCUMENTS["rest"]()["paths"]["/srmain/voice/calls"]["get"]["responses"]["200"]
    assert {*listed["headers"]} == {"Link", "RateLimit", "RateLimit-Policy"}
