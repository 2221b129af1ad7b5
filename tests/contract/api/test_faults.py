"""Faults of our own: told as a problem, without their insides."""

import httpx2
import pytest
from msgspec.structs import replace
from starlette.types import Message

from api.app import create_app
from tests.contract.api.rest import Rest

LEFT = "http.disconnect"


async def test_a_fault_within_is_a_problem_like_any_other(rest: Rest) -> None:
    """500 in the same shape as all refusals, with the request's id; and no more of it."""
    broken = create_app(replace(rest.parts, cdrs=None))
    headers = {"Authorization": rest.token}
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(broken), base_url="http://api", headers=headers
    ) as client:
        answer = await client.get("/srmain/cdr/3-pbx1-aaaaaaaa")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-request-id"]
    told = {"title": "Internal error", "status": 500, "code": "internal"}
    assert (answer.status_code, answer.json()) == (500, told)


@pytest.mark.parametrize("path", ["exports/%00", "exports/%00/download", "%00"])
async def test_a_nul_in_a_path_names_nothing(kept: Rest, path: str) -> None:
    """PostgreSQL takes none, not even to look for it."""
    assert (await kept.refused("GET", f"/srmain/cdr/{path}"))[:2] == (404, "not_found")


async def test_who_leaves_in_the_middle_of_a_body_is_no_fault(rest: Rest) -> None:
    """It is noted as a bad request: strangers can't fill the log with traces."""
    comes = iter(({"type": "http.request", "body": b"{", "more_body": True}, {"type": LEFT}))
    sent: list[Message] = []

    async def receive() -> Message:
        return next(comes)

    async def send(message: Message) -> None:
        sent.append(message)

    path = "/auth/get-access-token/acme"
    scope = {"type": "http", "method": "POST", "path": path, "headers": [], "query_string": b""}
    await create_app(rest.parts)(scope, receive, send)
    assert sent[0]["status"] == 400


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("contacts_list/contactlists", "limit, offset, name, status, tags"),
        ("contacts_list/download-requests", "limit, offset"),
        ("cdr/customer-history", "number, limit, offset"),
    ],
)
async def test_a_parameter_that_is_not_known_is_told_which_are(
    rest: Rest, path: str, allowed: str
) -> None:
    """As a field of a body is; one that is known, and wrong, is told what it may be."""
    answer = await rest.ask("GET", f"/srmain/{path}?page=2&limit=x")
    told = {each["path"]: each["message"] for each in answer.json()["errors"]}
    assert answer.status_code == 400
    assert told["page"] == f"unknown parameter; one of {allowed}"
    assert "a valid integer" in told["limit"]
