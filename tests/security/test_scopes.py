"""Every route with the key of every bundle: it is allowed as the route's scope says, or 403."""

import pytest

from api.auth.key_store import KeyStore, KeyTerms, generate_credentials
from api.auth.principal import BUNDLES, OPERATIONS, SCOPES, Scope, resolve
from api.console.pages import PAGES
from api.http.openapi_operation import ANY_SCOPE
from tests.harness.api.operation_list import operations
from tests.harness.api.rest import Rest

PUBLIC = {
    "/auth/get-access-token/{accountId}",
    "/media/recordings/{accountId}/{day}/{file}",
    "/srmain/dnc/subscribe/{token}",
    "/srmain/dnc/unsubscribe/{token}",
    "/srmain/msgapp-webhook",
    "/docs",
    "/docs/errors",
    "/docs/errors/{code}",
    "/docs/schemas/{name}",
    "/docs/files",
    "/openapi.json",
}
# These check a session's scopes themselves: tests/contract/api/test_console.py.
CONSOLE = {
    "/console",
    "/console/phone.js",
    "/console/session",
    "/console/sign-in",
    "/console/static/{version}/{path:path}",
    "/console/{path:path}",  # says that there is no such page
    *(f"/console{page.path}" for page in PAGES),
}
FOR_EVERY_CALLER = {"/auth/me"}


async def test_every_route_requires_its_scope(rest: Rest) -> None:
    """Those without one are public, and known; the OpenAPI document shows the scopes."""
    found = operations()
    assert len(found) > 60
    assert {each.path for each in found if each.scope is None} == PUBLIC | CONSOLE
    assert {each.path for each in found if each.scope == ANY_SCOPE} == FOR_EVERY_CALLER
    document = (await rest.client.get("/openapi.json")).json()["paths"]
    for each in found:
        if each.method == "HEAD":  # as its GET, which is shown
            continue
        shown = document.get(each.path, {}).get(each.method.lower(), {}).get("security", [])
        required = [] if each.scope == ANY_SCOPE else [each.scope]
        expected = [] if each.scope is None else [required] * 2  # with and without `Bearer`
        assert [scopes for one in shown for scopes in one.values()] == expected, each


def test_every_scope_is_required_somewhere() -> None:
    """A scope that guards nothing would promise what it does not give."""
    assert {each.scope for each in operations()} - {None, ANY_SCOPE} == {*SCOPES}


@pytest.mark.parametrize("bundle", BUNDLES)
async def test_every_route_with_every_bundle(rest: Rest, bundle: str) -> None:
    """Without the scope 403, whatever the request; with it, something else."""
    agent = "1001" if bundle == "agent" else None
    given = generate_credentials()
    keys = KeyStore(rest.services.database, rest.services.now_ms)
    await keys.add("acme", given, KeyTerms(agent, (bundle,)))
    for each in operations():
        if each.scope is None or each.path.endswith("/events"):  # a stream without end
            continue
        answer = await rest.request(each.method, each.url, {}, token=given.api_key)
        is_denied, is_head = answer.status_code == 403, each.method == "HEAD"
        is_missing = is_denied and (is_head or answer.json()["code"] == "scope")
        assert is_missing == (each.scope not in {*resolve([bundle]), ANY_SCOPE}), (
            each,
            answer.text,
        )


def test_no_bundle_has_the_scope_of_operators() -> None:
    """An account's owner has all scopes but this one, and no scope implies it."""
    assert resolve(["owner"]) == {*SCOPES} - {OPERATIONS}
    assert all(OPERATIONS not in resolve([each]) for each in BUNDLES)
    others: set[Scope] = {*SCOPES} - {OPERATIONS}
    assert OPERATIONS not in resolve(others)


@pytest.mark.parametrize("bundle", set(BUNDLES) - {"owner"})
def test_a_leaked_key_destroys_no_evidence(bundle: str) -> None:
    """Only an owner's key deletes recordings, shortens retention, or redirects mail."""
    owners: set[Scope] = {"account:write", "audit", "keys", "recordings:delete", OPERATIONS}
    assert not resolve([bundle]) & owners


async def test_who_the_caller_is(rest: Rest) -> None:
    """Every key and token may read its own account, agent and scopes, and nothing else of them."""
    own = (await rest.request("GET", "/auth/me")).json()
    assert (own["accountId"], own["agentId"]) == ("acme", None)
    assert {*own["scopes"]} == resolve(["integrator"])
    agents = await rest.request("GET", "/auth/me", token=await rest.token_of("acme", agentId="7"))
    assert agents.json() == {**own, "agentId": "7", "scopes": ["calls:own", "cdr:own"]}
    other = await rest.token_of("other", "other")
    assert (await rest.request("GET", "/auth/me", token=other)).json()["accountId"] == "other"
    rejected = await rest.rejected("GET", "/auth/me", token=generate_credentials().api_key)
    assert rejected[:2] == (401, "unauthenticated")


async def test_the_stream_of_events_needs_its_scope(rest: Rest) -> None:
    """It shows the calls of all agents."""
    token = await rest.token_of("1001")
    rejected = await rest.rejected("GET", "/srmain/voice/events", token=token)
    assert rejected == (403, "scope", [])
