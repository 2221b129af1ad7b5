"""Clients of the RPC with tokens of their own: who wrote what, and who may only read."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import structlog
from pydantic import ValidationError

from engine.app.connections import rpc_access
from engine.rpc.access import AUDITED_PATHS, RpcAccess, RpcClient
from engine.rpc.operations import OPERATIONS
from tests.harness.rpc.scene import CALL, TOKEN, RpcScene
from tests.harness.settings import SECRET, read_settings

MONITOR, NEXT, CRM = ("token-of-the-monitor", "next-token-of-the-monitor", "token-of-the-crm")
CLIENTS = (
    RpcClient("monitor", (MONITOR, NEXT), read_only=True),
    RpcClient("crm", (CRM,)),
)


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[RpcScene]:
    """Run an engine with two clients beside its own token."""
    made = RpcScene()
    made.access = RpcAccess(made.url, TOKEN, clients=CLIENTS)
    async with AsyncExitStack() as stack:
        await made.open(stack, tmp_path)
        yield made


def by(token: str) -> dict[str, Any]:
    return {"headers": {"Authorization": f"Bearer {token}"}}


@pytest.mark.parametrize("token", [MONITOR, NEXT])
async def test_a_read_only_client_reads(scene: RpcScene, token: str) -> None:
    """With either of its tokens, while it changes."""
    for path in ("/calls", "/agents?account=acme", "/nodes"):
        assert (await scene.request("GET", path, **by(token)))[0] == 200


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/calls", CALL),
        ("POST", "/calls/0-pbx1-x/hangup", {}),
        ("PUT", "/terms/acme", {}),
        ("PATCH", "/documents", {}),
        ("PATCH", "/terms/acme/dnc", {}),
        ("POST", "/nowhere", {}),
        ("GET", "/events?group=records&consumer=x", None),
    ],
)
async def test_a_read_only_client_changes_nothing(
    scene: RpcScene, method: str, path: str, body: object
) -> None:
    """Also no consumer group, whose other readers would miss what it reads."""
    with structlog.testing.capture_logs() as lines:
        status, problem = await scene.request(method, path, body, **by(MONITOR))
    assert (status, problem["code"]) == (403, "read_only")
    assert problem["detail"] == "client monitor is read-only: GET, except for a consumer group"
    (line,) = [each for each in lines if each["event"] == "request denied"]
    assert (line["client"], line["status"]) == ("monitor", 403)
    assert scene.telemetry.metrics.external.rpc_denied.table()["read_only"] == 1


async def test_each_write_names_its_client(scene: RpcScene) -> None:
    """The platform's own token is named, too."""
    with structlog.testing.capture_logs() as lines:
        for token in (CRM, TOKEN):
            assert (await scene.request("PUT", "/terms/acme", {}, **by(token)))[0] == 200
    writes = [each["client"] for each in lines if each["event"] == "rpc write"]
    assert writes == ["crm", "rpc_token"]


def test_each_setting_is_audited() -> None:
    """Other requests than reads are about live calls and events, or are those of engines."""
    others = ("/calls", "/document-checksums", "/events/ack", "/peers")
    paths = [f"/rpc/v1{each.path}" for each in OPERATIONS if each.method != "get"]
    left = [each for each in paths if not each.startswith(AUDITED_PATHS)]
    assert [each for each in left if not each.removeprefix("/rpc/v1").startswith(others)] == []


async def test_an_unknown_token_is_no_client(scene: RpcScene) -> None:
    """It is counted, and its address is in the log."""
    with structlog.testing.capture_logs() as lines:
        status, problem = await scene.request("GET", "/calls", **by("another-token-012345"))
    assert (status, problem["code"]) == (401, "unauthenticated")
    (line,) = [each for each in lines if each["event"] == "request denied"]
    assert (line["address"], line["reason"]) == ("127.0.0.1", "token")
    assert scene.telemetry.metrics.external.rpc_denied.table()["token"] == 1


def test_clients_are_settings() -> None:
    """By name, with further tokens while one changes."""
    monitor = {"token": SECRET * 2, "further_tokens": [SECRET * 3], "read_only": True}
    access = rpc_access(read_settings({"rpc_clients": {"monitor": monitor}}))
    assert access.clients == (RpcClient("monitor", (SECRET * 2, SECRET * 3), read_only=True),)
    assert access.tokens == (SECRET,)


@pytest.mark.parametrize(
    ("clients", "message"),
    [
        ({"monitor": {"token": SECRET}}, "monitor needs a token of its own"),
        (
            {"one": {"token": SECRET * 2}, "two": {"token": SECRET * 2}},
            "two needs a token of its own",
        ),
        ({"rpc_token": {"token": SECRET * 2}}, "String should match pattern"),
        ({"monitor": {"token": SECRET * 2, "readonly": True}}, "Extra inputs are not permitted"),
    ],
)
def test_invalid_clients(clients: Mapping[str, Any], message: str) -> None:
    """A token that two have would tell neither who writes, nor whether it may."""
    with pytest.raises(ValidationError, match=message):
        read_settings({"rpc_clients": clients})
