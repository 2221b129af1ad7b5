"""L7: no cache keeps a response of the API, so none keeps a secret."""

import re
from typing import Any

from api.http.pages import DOCUMENT
from tests.harness.api.operation_list import operations
from tests.harness.api.rest import Rest
from tools.docs.reference.openapi import rest_document
from wire.docs_address import ERROR_PATH

SECRET = re.compile(
    r"secret|password|token|credential|apikey|signed|authorization|^username$", re.IGNORECASE
)
# Documents of the product, the same for everybody: whoever wants may keep them.
PUBLIC = re.compile(rf"{re.escape(DOCUMENT)}|{ERROR_PATH}.*|/docs/schemas/.*|/console/static/.*")
STREAMS = {"/srmain/voice/events", "/srmain/voice/webhooks/events"}  # until their readers leave


def secrets_of(schema: Any, shapes: dict[str, Any], seen: set[str]) -> set[str]:
    """Return the names of a schema's fields that may be secrets, at any depth; each shape once."""
    if isinstance(schema, list):
        return {name for each in schema for name in secrets_of(each, shapes, seen)}
    if not isinstance(schema, dict):
        return set()
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if name and name not in seen:
        seen.add(name)
        return secrets_of(shapes[name], shapes, seen)
    fields = schema.get("properties", {})
    own = {each for each in fields if SECRET.search(each)}
    inner = [each for key, each in schema.items() if key != "properties"]
    return own | secrets_of([*inner, *fields.values()], shapes, seen)


def operations_with_secrets() -> set[tuple[str, str]]:
    """Return method and path of operations whose responses may have a secret."""
    document = rest_document()
    return {
        (method.upper(), path)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        for status, response in operation["responses"].items()
        if status.startswith("2")
        if secrets_of(response, document["components"]["schemas"], set())
    }


async def test_no_response_is_stored(rest: Rest) -> None:
    """Whatever its status, unless it is a document that is the same for everybody."""
    stored = set()
    for each in operations():
        if each.path in STREAMS:
            continue
        answer = await rest.request(each.method, each.url)
        caching = answer.headers["cache-control"]
        if "no-store" not in caching:
            stored.add((each.method, each.path))
    assert {path for _, path in stored if not PUBLIC.fullmatch(path)} == {"/console/phone.js"}
    with_secrets = operations_with_secrets()
    assert ("POST", "/srmain/keys") in with_secrets
    assert len(with_secrets) >= 10
    assert not stored & with_secrets


async def test_what_shows_a_secret_is_not_stored(rest: Rest) -> None:
    """A real response, with the token that it makes."""
    given = rest.credentials["acme"]
    body = {"apiKey": given.api_key, "apiSecret": given.api_secret}
    answer = await rest.client.post("/auth/get-access-token/acme", json=body)
    assert answer.json()["accessToken"]
    assert answer.headers.get_list("cache-control") == ["no-store"]
