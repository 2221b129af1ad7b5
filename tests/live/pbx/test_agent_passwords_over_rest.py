"""Passwords of phones over REST, on a running PBX: set, changed, removed, and after a loss."""

from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest
import pytest_asyncio

from tests.harness.live_lab import Lab
from tests.harness.phones.digest_login import Login, try_login
from tests.harness.servers.api import Api
from tests.harness.servers.engine import RequestError
from tests.harness.until import until

ACCOUNT, NUMBER = "phones", "+15550004"  # of no other test
BASE = "/srmain/voice/agents"
PHONE = "phones-nora"
PASSWORD, NEXT_PASSWORD = "first-password-of-nora", "second-password-of-nora"


class Nora:
    """An agent of an account, and her phone."""

    def __init__(self, lab: Lab, api: Api) -> None:
        self.lab = lab
        self.api = api

    async def put(self, path: str = "nora", **body: str) -> None:
        """Change the agent with the account's key."""
        await self.api.request("PUT", f"{BASE}/{path}", body, token=self.api.api_key)

    async def remove(self) -> None:
        """Remove the agent."""
        await self.api.request("DELETE", f"{BASE}/nora", token=self.api.api_key)

    async def logs_in(self, password: str = PASSWORD) -> bool:
        """Register the phone; returns whether the PBX accepts it."""
        return await try_login(self.lab.pbx, Login(PHONE, password)) == 200

    async def is_refused(self) -> bool:
        """Register the phone; returns whether the PBX does not know it."""
        return not await self.logs_in()

    async def until_logged_in(self, password: str = PASSWORD) -> None:
        """Wait until the PBX accepts a password."""
        await until(lambda: self.logs_in(password), what="the phone to register")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def rest(servers: Lab, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Api]:
    """Run a REST layer in front of the engine."""
    folder = tmp_path_factory.mktemp("api")
    settings = {"SWITCHROOM_ACCOUNT_ENDPOINTS": '["PJSIP/1008"]'}
    async with Api(
        folder, engines=[servers.engine], account=ACCOUNT, number=NUMBER, settings=settings
    ) as running:
        yield running


@pytest.fixture
async def api(lab: Lab, rest: Api) -> Api:
    """Return the REST layer, once it reaches the engine."""
    await until(lab.engine.is_ready, what="the engine to be ready")
    await until(rest.is_ready, what="the REST layer to be ready")
    return rest


@pytest.fixture
async def nora(lab: Lab, api: Api) -> AsyncIterator[Nora]:
    """Add an agent whose phone has a password."""
    agent = Nora(lab, api)
    await agent.put(endpoint=f"PJSIP/{PHONE}")
    await agent.put("nora/password", password=PASSWORD)
    await agent.until_logged_in()
    yield agent
    await agent.remove()
    await until(agent.is_refused, what="the endpoint to be deleted")


async def test_a_new_password_makes_the_old_one_invalid(nora: Nora) -> None:
    """Without a reload of the PBX."""
    await nora.put("nora/password", password=NEXT_PASSWORD)
    await nora.until_logged_in(NEXT_PASSWORD)
    assert await nora.is_refused()


async def test_a_removed_agents_phone_cannot_register(nora: Nora) -> None:
    """Nor if the store loses everything, and the PBX restarts."""
    await nora.remove()
    await until(nora.is_refused, what="the endpoint to be deleted")
    await nora.lab.valkey.flush()
    await nora.lab.pbx.stop()
    await nora.lab.ensure_running()
    await nora.put(endpoint="PJSIP/phones-other")
    await nora.put("nora/password", password=PASSWORD)
    await until(lambda: is_online_or_made(nora.lab, "phones-other"), what="the next phone")
    assert await nora.is_refused()


async def test_a_store_that_lost_everything(nora: Nora) -> None:
    """The phone registers all the time; the store gets its password again."""
    await nora.lab.valkey.flush()
    assert await nora.logs_in()
    await until(
        lambda: has_password(nora.lab),
        what="the password to be in the store",
    )
    await nora.put("nora/password", password=NEXT_PASSWORD)
    await nora.until_logged_in(NEXT_PASSWORD)


async def test_store_engine_and_pbx_lose_everything(nora: Nora) -> None:
    """The REST layer knows the password: a phone can register soon after they run again."""
    await nora.lab.engine.stop()
    await nora.lab.pbx.stop()
    await nora.lab.valkey.flush()
    await nora.lab.ensure_running()
    await nora.until_logged_in()


async def test_an_endpoint_of_the_configuration(nora: Nora) -> None:
    """It is the operator's, who grants it; it keeps the password that pjsip.conf has."""
    shared = nora.lab.pbx.passwords.agents
    with pytest.raises(RequestError) as refused:
        await nora.put("configured", endpoint="PJSIP/1009")
    assert refused.value.problem["code"] == "endpoint_not_granted"
    await nora.put("configured", endpoint="PJSIP/1008")
    with pytest.raises(RequestError) as refused:
        await nora.put("configured/password", password=PASSWORD)
    problem: dict[str, Any] = refused.value.problem
    assert (refused.value.status, problem["code"]) == (400, "configured_endpoint")
    assert [each["path"] for each in problem["errors"]] == ["endpoint"]
    assert await try_login(nora.lab.pbx, Login("1008", shared)) == 200
    await nora.api.request("DELETE", f"{BASE}/configured", token=nora.api.api_key)


async def test_a_password_after_a_loss_without_a_rest_layer(lab: Lab) -> None:
    """Another writer sends it again: the PBX has the endpoint, and not of its configuration."""
    agent, documents = {"endpoint": "PJSIP/otto"}, lab.engine.documents
    for password in (PASSWORD, NEXT_PASSWORD):
        await documents.agent("acme", "otto", agent)
        await documents.password("acme", "otto", agent, password)
        await until(partial(is_accepted, lab, Login("otto", password)), what="the password")
        await lab.valkey.flush()
    await documents.agent("acme", "otto", agent)
    await documents.password("acme", "otto", agent, PASSWORD)
    await until(partial(is_accepted, lab, Login("otto", PASSWORD)), what="the password")
    await documents.delete("acme", "agent", "otto")
    await documents.delete("acme", "phone", "otto")


async def is_accepted(lab: Lab, login: Login) -> bool:
    """Register a phone; returns whether the PBX accepts it."""
    return await try_login(lab.pbx, login) == 200


async def is_online_or_made(lab: Lab, name: str) -> bool:
    """Return whether the PBX has an endpoint."""
    return any(each["resource"] == name for each in await lab.ari("endpoints/PJSIP"))


async def has_password(lab: Lab) -> bool:
    """Return whether the engines' store has the password of the phone."""
    found = await lab.engine.rpc("GET", f"/documents/{ACCOUNT}/phone")
    return PHONE in found["versions"]
