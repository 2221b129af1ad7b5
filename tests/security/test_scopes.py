"""Every route with the key of every bundle: it is allowed as the route's scope says, or 403."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from api.auth.scopes import BUNDLES, SCOPES, resolve
from api.auth.store import KeyStore, KeyTerms, generate_credentials
from tests.contract.api.rest import Rest

PUBLIC = {"/auth/get-access-token/{accountId}"}  # and those below
PUBLIC_PREFIXES = (
    "/media/recordings/",
    "/srmain/dnc/",
    "/srmain/msgapp-webhook",
    "/healthz",
    "/readyz",
    "/metrics",
)


class Operation(NamedTuple):
    method: str
    path: str
    security: list[dict[str, list[str]]]

    @property
    def url(self) -> str:
        """Return its path with an id that no resource has."""
        return "/".join("999999" if part.startswith("{") else part for part in self.path.split("/"))


def operations(rest: Rest, document: dict[str, Any]) -> Iterator[Operation]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield Operation(method.upper(), path, operation.get("security", []))


async def documented(rest: Rest) -> list[Operation]:
    """Return the operations of the OpenAPI document."""
    document = (await rest.client.get("/openapi.json")).json()
    return list(operations(rest, document))


async def test_every_route_declares_its_scope(rest: Rest) -> None:
    """The OpenAPI document shows one scope for each route that is not public."""
    found = await documented(rest)
    assert len(found) > 60
    for each in found:
        if not each.security:
            assert each.path in PUBLIC or each.path.startswith(PUBLIC_PREFIXES), each
            continue
        [[scope]] = [scopes for [scopes] in (list(one.values()) for one in each.security)]
        assert scope in SCOPES


@pytest.mark.parametrize("bundle", BUNDLES)
async def test_every_route_with_every_bundle(rest: Rest, bundle: str) -> None:
    """Without the scope 403, whatever the request; with it, something else."""
    agent = "1001" if bundle == "agent" else None
    given = generate_credentials()
    keys = KeyStore(rest.services.database, rest.services.now_ms)
    await keys.add("acme", given, KeyTerms(agent, (bundle,)))
    for each in await documented(rest):
        if not each.security or each.path == "/srmain/voice/events":  # a stream without end
            continue
        [[scope]] = each.security[0].values()
        answer = await rest.request(each.method, each.url, {}, token=given.api_key)
        is_missing = answer.status_code == 403 and answer.json()["code"] == "scope"
        assert is_missing == (scope not in resolve([bundle])), (each, answer.text)


async def test_the_stream_of_events_needs_its_scope(rest: Rest) -> None:
    """It shows the calls of all agents."""
    token = await rest.token_of("1001")
    rejected = await rest.rejected("GET", "/srmain/voice/events", token=token)
    assert rejected == (403, "scope", [])
