"""Recording over the RPC without an archive, and invalid recording requests."""

import pytest

from tests.harness.rpc.scene import RpcScene

ACTIONS = ("start", "pause", "resume", "stop")


@pytest.mark.parametrize("action", ACTIONS)
async def test_without_an_archive_nothing_is_recorded(scene: RpcScene, action: str) -> None:
    """The request gets a conflict that names the missing settings."""
    call = await scene.start_call()
    path = f"/calls/{call}/recording/{action}"
    assert await scene.problem("POST", path) == (409, "no_archive")
    _status, answer = await scene.request("POST", path)
    assert "ami_password" in answer["detail"]


async def test_a_call_that_could_not_be_recorded_is_not_made(scene: RpcScene) -> None:
    """The call is rejected, because its recording would be missing."""
    body = {"account": "acme", "from": "+4722000099", "to": "+4722000011", "recordCall": True}
    assert await scene.problem("POST", "/calls", body) == (503, "no_archive")
    assert (await scene.request("GET", "/calls"))[1] == {"calls": []}


@pytest.mark.parametrize("action", ACTIONS)
async def test_another_accounts_call_is_not_found(scene: RpcScene, action: str) -> None:
    """A call of another account gets 404, like a call that does not exist."""
    call = await scene.start_call()
    path = f"/calls/{call}/recording/{action}"
    assert await scene.problem("POST", path, {"account": "other"}) == (404, "not_found")
    gone = f"/calls/0-pbx1-gone_gone/recording/{action}"
    assert await scene.problem("POST", gone) == (404, "not_found")


@pytest.mark.parametrize("body", [b"[]", b"{", {"accounts": "acme"}, {"account": "a b"}])
async def test_a_body_that_is_none_is_refused(scene: RpcScene, body: object) -> None:
    """A body may contain nothing but an account."""
    call = await scene.start_call()
    path = f"/calls/{call}/recording/start"
    assert (await scene.problem("POST", path, body))[0] == 400
