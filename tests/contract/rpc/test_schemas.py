"""The published OpenAPI document of the RPC."""

import json
import re
from typing import Any

from engine.rpc.access import RpcAccess
from engine.rpc.peers.client import open_peer_client
from engine.rpc.schemas import openapi_document
from engine.rpc.server import rpc_app
from tests.harness.rpc.scene import TOKEN, RpcScene


def refs(value: Any) -> list[str]:
    """Return all references in a document."""
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [each for inner in value.values() for each in refs(inner)]
    return [each for inner in value for each in refs(inner)] if isinstance(value, list) else []


async def test_the_description_is_published(scene: RpcScene) -> None:
    """The document equals the code's: every reference resolves, and every path exists."""
    status, document = await scene.request("GET", "/openapi.json")
    assert status == 200
    assert document == json.loads(json.dumps(openapi_document()))
    assert document["openapi"].startswith("3.1")
    for ref in refs(document):
        assert ref.removeprefix("#/components/schemas/") in document["components"]["schemas"]
    for path, operations in document["paths"].items():
        names = re.findall(r"\{(\w+)\}", path)
        for method, operation in operations.items():
            assert [each["name"] for each in operation["parameters"]] == names
            assert "default" in operation["responses"]
            body = path.removeprefix("/rpc/v1").format(**dict.fromkeys(names, "x"))
            if body != "/events":
                assert (await scene.request(method, body))[0] != 405


async def test_everything_is_described(scene: RpcScene) -> None:
    """Every route of the RPC is in the document, with a summary."""
    access = RpcAccess(scene.url, TOKEN)
    async with open_peer_client(scene.dependencies.shard_directory, access) as peers:
        routes = list(rpc_app(scene.dependencies, access, peers).router.routes())
    served = {
        (each.method.lower(), f"/rpc/v1{each.resource.canonical}")
        for each in routes
        if each.resource is not None and each.method != "HEAD"
    }
    described = {
        (method, path): operation
        for path, operations in openapi_document()["paths"].items()
        for method, operation in operations.items()
    }
    assert served - {("get", "/rpc/v1/openapi.json")} == described.keys()
    assert all(each["summary"] for each in described.values())


def test_the_descriptions_patterns_are_ecma() -> None:
    """Patterns of JSON Schema are ECMA 262, without constructs that only Python has."""
    text = json.dumps(openapi_document())
    for pattern in re.findall(r'"pattern": "((?:[^"\\]|\\.)*)"', text):
        found = json.loads(f'"{pattern}"')
        assert not re.search(r"\\Z|\\A|\(\?P|\(\?[aiLmsux]", found)
        re.compile(found)
