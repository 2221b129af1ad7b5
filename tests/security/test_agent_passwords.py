"""A password for each agent's phone: who may set it, and what is stored of it."""

from typing import Any

import pytest

from tests.harness.rpc.scene import RpcScene

PASSWORD = "a" * 32


@pytest.fixture
async def anna(scene: RpcScene) -> RpcScene:
    """Add an agent with a phone of its own."""
    await put(scene, "acme", "anna", {"endpoint": "PJSIP/anna"})
    return scene


async def put(scene: RpcScene, account: str, path: str, body: dict[str, Any]) -> int:
    """Send a PUT below an account's agents; returns the status."""
    status, _ = await scene.request("PUT", f"/agents/{account}/{path}", body)
    return status


async def test_only_digests_are_stored(anna: RpcScene) -> None:
    """Whoever reads the store has no password."""
    assert await put(anna, "acme", "anna/password", {"password": PASSWORD}) == 200
    (stored,) = (await anna.store.phones.all()).values()
    assert PASSWORD.encode() not in stored
    assert b'"md5"' in stored
    assert b'"sha256"' in stored


async def test_one_endpoint_has_one_agent(anna: RpcScene) -> None:
    """No other agent can have it once it has a password, of any account, or change the password."""
    assert await put(anna, "acme", "anna/password", {"password": PASSWORD}) == 200
    before = await anna.store.phones.all()
    assert await put(anna, "other", "mallory", {"endpoint": "PJSIP/anna"}) == 409
    assert await put(anna, "acme", "bob", {"endpoint": "PJSIP/anna"}) == 409
    await put(anna, "acme", "bob", {"endpoint": "PJSIP/bob"})
    assert await put(anna, "acme", "bob/password", {"password": PASSWORD}) == 200
    assert (await anna.store.phones.all())["anna"] == before["anna"]


@pytest.mark.parametrize("endpoint", ["PJSIP/agent-template"])
async def test_a_reserved_endpoint_gets_no_password(scene: RpcScene, endpoint: str) -> None:
    """What all phones are made from is no agent's."""
    await put(scene, "acme", "eve", {"endpoint": endpoint})
    assert await put(scene, "acme", "eve/password", {"password": PASSWORD}) == 409


@pytest.mark.parametrize("password", ["short", "with a space in the middle", "x" * 129])
async def test_a_weak_password_is_refused(anna: RpcScene, password: str) -> None:
    """It has 16 to 128 visible characters."""
    assert await put(anna, "acme", "anna/password", {"password": password}) == 400


@pytest.mark.parametrize("change", ["deleted", "moved"])
async def test_an_agent_that_leaves_takes_its_password_along(anna: RpcScene, change: str) -> None:
    """The endpoint of a deleted or moved agent is deleted at the nodes."""
    await put(anna, "acme", "anna/password", {"password": PASSWORD})
    if change == "deleted":
        await anna.request("DELETE", "/agents/acme/anna")
    else:
        await put(anna, "acme", "anna", {"endpoint": "PJSIP/anna2"})
    assert await anna.store.phones.all() == {}
    changes, _ = await anna.store.phones.changes("")
    assert changes == {"anna": None}
