"""A password for each agent's phone: who may set it, and what is stored of it."""

import pytest

from tests.harness.rpc.scene import RpcScene

PASSWORD = "a" * 32
ANNA = {"endpoint": "PJSIP/anna"}
TAKEN = (409, "endpoint_taken")


async def test_only_digests_are_stored(scene: RpcScene) -> None:
    """Whoever reads the store has no password."""
    await scene.documents.password("acme", "anna", ANNA, PASSWORD)
    (stored,) = (await scene.store.phones.all()).values()
    assert PASSWORD.encode() not in stored
    assert b'"md5"' in stored
    assert b'"sha256"' in stored


async def test_one_endpoint_has_one_agent(scene: RpcScene) -> None:
    """No other agent can have it once it has a password, of any account."""
    await scene.documents.agent("acme", "anna", ANNA)
    await scene.documents.password("acme", "anna", ANNA, PASSWORD)
    for path in ("/agents/other/mallory", "/agents/acme/bob"):
        assert await scene.problem("POST", f"{path}/check", ANNA) == TAKEN
        assert await refused(scene, f"{path}", ANNA) == TAKEN
    await scene.documents.password("acme", "bob", {"endpoint": "PJSIP/bob"}, PASSWORD)
    assert (await scene.store.phones.all()).keys() == {"anna", "bob"}


@pytest.mark.parametrize("endpoint", ["PJSIP/agent-template"])
async def test_a_reserved_endpoint_gets_no_password(scene: RpcScene, endpoint: str) -> None:
    """What all phones are made from is no agent's."""
    assert await refused(scene, "/agents/acme/eve", {"endpoint": endpoint}) == TAKEN


@pytest.mark.parametrize("password", ["short", "with a space in the middle", "x" * 129])
async def test_a_weak_password_is_refused(scene: RpcScene, password: str) -> None:
    """It has 16 to 128 visible characters."""
    assert (await refused(scene, "/agents/acme/anna", ANNA, password))[0] == 400


async def refused(
    scene: RpcScene, agent: str, document: dict[str, str], password: str = PASSWORD
) -> tuple[int, str]:
    """Draft a password that must be refused; return status and code."""
    draft = {"password": password, "agent": document}
    return await scene.problem("POST", f"{agent}/password/draft", draft)
