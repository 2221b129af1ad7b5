"""Internal errors and malformed requests: problems without internals."""

import httpx2
import pytest
from msgspec.structs import replace
from starlette.types import Message

from api.app import create_app
from tests.harness.api.rest import Rest
from wire.decoding.errors import MAX_ERRORS

LEFT = "http.disconnect"


async def test_an_internal_error_is_a_problem(rest: Rest) -> None:
    """The response is a problem with status 500 and the request id, and nothing more."""
    broken = create_app(replace(rest.services, cdrs=None))
    headers = {"Authorization": rest.token}
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(broken), base_url="http://api", headers=headers
    ) as client:
        answer = await client.get("/srmain/cdr/3-pbx1-aaaaaaaa")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-request-id"]
    reported = {
        "type": "/docs/errors/internal", "title": "Internal error",
        "status": 500, "code": "internal",
    }  # fmt: skip
    assert (answer.status_code, answer.json()) == (500, reported)


@pytest.mark.parametrize("path", ["exports/%00", "exports/%00/download", "%00"])
async def test_a_nul_in_a_path_is_not_found(kept: Rest, path: str) -> None:
    """PostgreSQL rejects NUL even in a query, so such an id gets 404."""
    assert (await kept.rejected("GET", f"/srmain/cdr/{path}"))[:2] == (404, "not_found")


async def test_a_disconnect_within_a_body_is_no_internal_error(rest: Rest) -> None:
    """It is logged as a bad request, without a traceback."""
    comes = iter(({"type": "http.request", "body": b"{", "more_body": True}, {"type": LEFT}))
    sent: list[Message] = []

    async def receive() -> Message:
        return next(comes)

    async def send(message: Message) -> None:
        sent.append(message)

    path = "/auth/get-access-token/acme"
    scope = {"type": "http", "method": "POST", "path": path, "headers": [], "query_string": b""}
    await create_app(rest.services)(scope, receive, send)
    assert sent[0]["status"] == 400


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("contacts_list/contactlists", "limit, offset, name, status, tags"),
        ("contacts_list/download-requests", "limit, offset"),
        ("cdr/customer-history", "number, limit, offset, cursor"),
    ],
)
async def test_an_unknown_parameter_gets_the_known_ones(
    rest: Rest, path: str, allowed: str
) -> None:
    """The error lists the known parameters; an invalid value has its own error."""
    answer = await rest.request("GET", f"/srmain/{path}?page=2&limit=x")
    reported = {each["path"]: each["message"] for each in answer.json()["errors"]}
    assert answer.status_code == 400
    assert reported["page"] == f"unknown parameter; one of {allowed}"
    assert reported["limit"] == "expected a whole number"


@pytest.mark.parametrize("path", ["/srmain/cdr", "/openapi.json", "/console/calls"])
async def test_a_query_has_a_limited_number_of_parameters(rest: Rest, path: str) -> None:
    """Each costs, also a stranger's, and has an error of at most fifty."""
    query = "&".join(f"a{number}=1" for number in range(100))
    assert (await rest.client.get(f"{path}?{query}")).status_code != 414
    refused = await rest.client.get(f"{path}?{query}&a=1")
    assert (refused.status_code, refused.json()["code"]) == (414, "request_rejected")
    assert refused.json()["detail"] == "the query has more than 100 parameters"


async def test_errors_of_parameters_are_limited(rest: Rest) -> None:
    """As those of a body."""
    query = {f"a{number}": "1" for number in range(90)}
    answer = await rest.client.get(
        "/srmain/cdr", params=query, headers={"Authorization": rest.token}
    )
    assert (answer.status_code, len(answer.json()["errors"])) == (400, MAX_ERRORS)


@pytest.mark.parametrize(
    ("query", "path", "message"),
    [
        ("limit=-1", "limit", "expected a whole number, at least 1 and at most 1000"),
        ("limit=1001", "limit", "expected a whole number, at least 1 and at most 1000"),
        ("limit=1", "dialedNumber", "required, but missing"),
        (f"reqId={'a' * 257}", "reqId", "expected text of at most 256 characters"),
        ("answerStatus=maybe", "answerStatus", "expected 'answered', 'missed' or ''"),
        ("callerId=%2547", "callerId", "expected a number such as +4721930000, without wildcards"),
    ],
)
async def test_parameters_and_bodies_have_the_same_errors(
    rest: Rest, query: str, path: str, message: str
) -> None:
    """An invalid parameter has the text that the same error has in a body."""
    answer = await rest.request("GET", f"/srmain/cdr?{query}")
    reported = {each["path"]: each["message"] for each in answer.json()["errors"]}
    assert (answer.status_code, reported[path]) == (400, message)


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("POST", "dnc", b'{"phoneNo": "+4790000001", "phoneNo": "x", "provider": "t"}', "phoneNo"),
        ("PUT", "voice/flows/f", b'{"start": "a", "nodes": {"a": {}, "a": {}}}', "nodes.a"),
    ],
)
async def test_a_name_that_is_given_twice_is_rejected(
    rest: Rest, method: str, path: str, body: bytes, field: str
) -> None:
    """One of both values would be lost."""
    headers = {"Content-Type": "application/json"}
    answer = await rest.request(method, f"/srmain/{path}", body, headers=headers)
    assert answer.status_code == 400, answer.text
    assert [each["path"] for each in answer.json()["errors"]] == [field]


async def test_a_name_that_is_given_twice_in_a_form_is_rejected(rest: Rest) -> None:
    """The path begins with the form's field."""
    form = {"file": ("a.csv", b"Phone\n"), "data": (None, '{"name": "a", "name": "b"}')}
    answer = await rest.request("POST", "/srmain/contacts_list/upload", files=form)
    assert [each["path"] for each in answer.json()["errors"]] == ["data.name"]
