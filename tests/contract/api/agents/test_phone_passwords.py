"""Phones' passwords are kept in the database, and go with the agent, on both databases."""

import asyncio
from typing import Any

import msgspec
import pytest

from api.common.errors import Conflict, PreconditionFailed
from api.documents.document import Document
from api.documents.plugin import DocumentSlice
from engine.ari.request import Reply
from engine.runtime.agents.phone_credentials import digest_credentials
from tests.harness.api.rest import Rest
from wire.agents import Agent

BASE = "/srmain/voice/agents"
ANN, BOB = f"{BASE}/ann", f"{BASE}/bob"
PHONE = {"endpoint": "PJSIP/1002"}
PASSWORD = {"password": "correct-horse-battery"}


@pytest.fixture
def documents(kept: Rest) -> DocumentSlice:
    """Provide the documents of the REST layer."""
    return kept.services.documents


async def put(rest: Rest, path: str, body: dict[str, Any]) -> None:
    """Send a PUT that must succeed."""
    answer = await rest.request("PUT", path, body)
    assert answer.is_success, answer.text


async def add_phone(rest: Rest, agent: str = ANN, endpoint: str = "PJSIP/1002") -> None:
    """Add an agent whose phone has a password."""
    await put(rest, agent, {"endpoint": endpoint})
    await put(rest, f"{agent}/password", PASSWORD)


async def stored(documents: DocumentSlice) -> dict[str, Any]:
    """Return the passwords of acme's phones in the database, by id."""
    found = await documents.store.read("acme", "phone", ["1002", "1003"])
    return {name: msgspec.json.decode(each.body) for name, each in found.items()}


async def test_a_password_is_in_the_database_first(kept: Rest, documents: DocumentSlice) -> None:
    """A store that loses it at once gets it again; the phone keeps its password."""
    await add_phone(kept)
    at_engine = await kept.scene.store.phones.all()
    kept.scene.store.documents.clear()
    expected = digest_credentials("acme", "ann", "PJSIP/1002", "", PASSWORD["password"])
    assert (await stored(documents))["1002"] == msgspec.to_builtins(expected)
    await documents.sync.compare_account("acme")
    assert await kept.scene.store.phones.all() == at_engine
    found = await documents.store.get("acme", "phone", "1002")
    versions = await kept.scene.store.documents.versions("acme", "phone")
    assert versions == {"1002": found.version}


async def test_a_deleted_agent_has_no_password(kept: Rest, documents: DocumentSlice) -> None:
    """The deletion is in the database, and reaches the engines also if they hear of it later."""
    await add_phone(kept)
    await documents.agents.delete("acme", "agent", "ann")
    assert await stored(documents) == {}
    assert (await kept.scene.store.phones.all()).keys() == {"1002"}
    await documents.sync.push("acme")
    assert await kept.scene.store.phones.all() == {}
    await documents.sync.compare_account("acme")
    assert await stored(documents) == {}


async def test_a_deletion_is_known_after_a_loss(kept: Rest, documents: DocumentSlice) -> None:
    """A node has the phone until an engine reads its deletion, which the store may have lost."""
    await add_phone(kept)
    await add_phone(kept, BOB, "PJSIP/1003")
    await documents.agents.delete("acme", "agent", "ann")
    kept.scene.store.documents.clear()
    await documents.sync.compare_account("acme")
    found, _ = await kept.scene.store.phones.changes("")
    assert found["1002"] is None
    assert found["1003"] is not None


async def test_an_agent_that_moves_has_no_password(kept: Rest, documents: DocumentSlice) -> None:
    """The one of its earlier endpoint is deleted; a change of its name leaves the password."""
    await add_phone(kept)
    await put(kept, ANN, {**PHONE, "name": "Ann"})
    assert (await stored(documents)).keys() == {"1002"}
    await put(kept, ANN, {"endpoint": "PJSIP/1003"})
    assert await stored(documents) == {}
    assert await kept.scene.store.phones.all() == {}


async def test_another_agents_password_stays(kept: Rest, documents: DocumentSlice) -> None:
    """Two agents had one endpoint before one of them got a password."""
    await put(kept, BOB, PHONE)
    await add_phone(kept)
    assert (await kept.request("DELETE", BOB)).status_code == 204
    assert (await stored(documents))["1002"]["agent_id"] == "ann"
    assert (await kept.scene.store.phones.all()).keys() == {"1002"}


async def test_an_agent_that_changes_meanwhile(kept: Rest, documents: DocumentSlice) -> None:
    """A password is for the endpoint that it was checked for, and for no other one."""
    await put(kept, ANN, PHONE)
    before = await documents.store.get("acme", "agent", "ann")
    await put(kept, ANN, {"endpoint": "PJSIP/1003"})
    for changed in (before, Document("acme", "agent", "none", 2, b"{}")):
        with pytest.raises(PreconditionFailed):
            await documents.agents.put_phone(changed, "1002", b"{}")
    assert await stored(documents) == {}


async def test_changes_and_passwords_at_once(kept: Rest, documents: DocumentSlice) -> None:
    """Whatever comes last, a password is that of the agent's endpoint, or there is none."""
    await put(kept, ANN, PHONE)
    requests = [
        *(kept.request("PUT", f"{ANN}/password", PASSWORD) for _ in range(4)),
        *(kept.request("PUT", ANN, {"endpoint": f"PJSIP/100{n}"}) for n in (3, 2, 3, 2)),
    ]
    answers = await asyncio.gather(*requests)
    assert {each.status_code for each in answers} <= {200, 204, 412}
    agent = await documents.store.get("acme", "agent", "ann")
    endpoint = msgspec.json.decode(agent.body, type=Agent).endpoint
    found = (await stored(documents)).keys()
    assert found <= {endpoint.removeprefix("PJSIP/")}
    assert (await kept.scene.store.phones.all()).keys() == found


async def test_an_endpoint_in_the_configuration(kept: Rest, documents: DocumentSlice) -> None:
    """Its password cannot be changed: the error names the field and what is allowed."""
    kept.scene.pbx.shows["endpoints/PJSIP/1002"] = Reply(200, b"{}")
    await put(kept, ANN, PHONE)
    answer = await kept.request("PUT", f"{ANN}/password", PASSWORD)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (400, "configured_endpoint")
    (error,) = problem["errors"]
    assert error["path"] == "endpoint"
    assert "PJSIP/acme-ann" in error["message"]
    assert await stored(documents) == {}


async def test_a_phone_stays_its_agents_while_engines_know_nothing(
    kept: Rest, documents: DocumentSlice
) -> None:
    """Their store has lost everything: no other agent, of any account, gets it meanwhile."""
    await add_phone(kept)
    theirs = await kept.token_of("other", "other")
    other = await documents.agents.put("other", "agent", "eve", b'{"endpoint": "PJSIP/1003"}')
    for token, path in ((theirs, BOB), (kept.token, BOB)):
        kept.scene.store.documents.clear()
        refused = await kept.rejected("PUT", path, PHONE, token=token)
        assert refused[:2] == (409, "endpoint_taken")
    with pytest.raises(Conflict):
        await documents.agents.put_phone(other, "1002", b"{}")
    await documents.sync.compare_all()
    assert (await kept.scene.store.phones.all()).keys() == {"1002"}
    assert (await kept.request("DELETE", ANN)).status_code == 204
    assert (await kept.request("PUT", BOB, PHONE)).status_code == 200
