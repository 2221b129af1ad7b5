"""Python clients that openapi-python-client makes of the documents, used with real servers."""

import asyncio
import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.harness.api.databases import sqlite_url
from tests.harness.api.serving import serve_rest
from tests.harness.rpc.scene import CALL, TOKEN, RpcScene


async def generate(name: str, document: Path, folder: Path) -> ModuleType:
    """Generate a client without a warning; import each of its modules, and return its package."""
    config = folder / "config.yaml"
    config.write_text("post_hooks: []\n")
    package = f"generated_{name}_client"
    program = Path(sys.executable).with_name("openapi-python-client")
    argv = (
        *(str(program), "generate", "--fail-on-warning", "--meta", "none"),
        *("--path", str(document), "--output-path", str(folder / package)),
        *("--config", str(config)),
    )
    done = await asyncio.to_thread(subprocess.run, argv, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:].decode()
    found = importlib.import_module(package)
    for each in pkgutil.walk_packages(found.__path__, f"{package}."):
        importlib.import_module(each.name)
    return found


async def test_a_client_of_the_rest_document_works(
    scene: RpcScene,
    documents: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It lists live calls with a key as a bearer token, and has the problem of a wrong key."""
    monkeypatch.syspath_prepend(tmp_path)
    async with serve_rest(sqlite_url(tmp_path), scene.url) as rest:
        async with rest.http.get(f"{rest.url}/openapi.json") as served:
            assert await served.json() == json.loads(documents["rest"].read_text())
        package = await generate("rest", documents["rest"], tmp_path)
        operations = importlib.import_module(f"{package.__name__}.api.calls.calls_list")
        client = package.AuthenticatedClient(base_url=rest.url, token=rest.keys["acme"])
        _, created = await scene.request("POST", "/calls", CALL)
        async with client:
            page = await operations.asyncio(client=client)
        assert [each.call_id for each in page.data] == [created["callId"]]
        stranger = package.AuthenticatedClient(base_url=rest.url, token="wrong")  # noqa: S106 - no secret
        async with stranger:
            problem = await operations.asyncio(client=stranger)
        assert (problem.status, problem.code) == (401, "unauthenticated")


async def test_a_client_of_the_rpc_document_works(
    scene: RpcScene,
    documents: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It starts a call, and gets its state as a model."""
    monkeypatch.syspath_prepend(tmp_path)
    package = await generate("rpc", documents["rpc"], tmp_path)
    client = package.AuthenticatedClient(base_url=scene.url, token=TOKEN)
    models = importlib.import_module(f"{package.__name__}.models")
    create = importlib.import_module(f"{package.__name__}.api.calls.calls_create")
    get = importlib.import_module(f"{package.__name__}.api.calls.calls_get")
    async with client:
        created = await create.asyncio(client=client, body=models.Originate.from_dict(CALL))
        call = await get.asyncio(created.call_id, client=client)
    assert (call.call_id, call.account) == (created.call_id, CALL["account"])
