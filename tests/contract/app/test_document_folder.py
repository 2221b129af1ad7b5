"""Documents in a folder: read at the start, on change, and after the store lost its data."""

import json
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from engine.app.document_folder import DocumentFolder
from tests.harness.rpc.scene import SAY, RpcScene
from tests.harness.scenarios.graphs import API

SECRET = "whsec_" + "c2VjcmV0" * 4
FILES: dict[str, Any] = {
    "acme/callback/default.json": {"target": "https://x.example/", "secret": SECRET},
    f"acme/request/{API}.json": {"url": "https://x.example/"},
    "acme/flow/menu.json": {
        "start": "a",
        "nodes": {
            "a": {
                "type": "request",
                "data": {"requestId": API},
                "success": "b",
                "failure": "b",
            },
            "b": {"type": "hangup"},
        },
    },
    "acme/agent/ann.json": {"endpoint": "PJSIP/ann", "password": "correct-horse-battery"},
    "acme/route/+4733333333.json": {"action": {"type": "flow", "data": {"flowId": "menu"}}},
    "acme/route/default.json": {"action": SAY},
    "other/route/+4744444444.json": {"action": SAY},
}


class Folder:
    """A folder with documents, and what an engine makes of it."""

    def __init__(self, path: Path, scene: RpcScene) -> None:
        self.path = path
        self.scene = scene
        self.documents = DocumentFolder.open(path, scene.dependencies)

    def write(self, name: str, body: object) -> None:
        """Write a file; text is written unchanged."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(body if isinstance(body, str) else json.dumps(body))

    async def versions(self, account: str = "acme") -> dict[str, set[str]]:
        """Return the ids of an account's documents, by kind."""
        store = self.scene.store.documents
        kinds = (await store.checksums([account]))[0]
        return {kind: set(await store.versions(account, kind)) for kind in kinds}


@pytest.fixture
async def folder(scene: RpcScene, tmp_path: Path) -> Folder:
    """Provide a folder whose files the engine has read."""
    made = Folder(tmp_path / "documents", scene)
    for name, body in FILES.items():
        made.write(name, body)
    await made.documents.poll()
    return made


ALL = {
    "callback": {"default"},
    "request": {API},
    "flow": {"menu"},
    "agent": {"ann"},
    "phone": {"ann"},
    "route": {"+4733333333", "*"},
}


async def test_all_kinds_are_read(folder: Folder, scene: RpcScene) -> None:
    """In the order in which they name each other; an agent's password is stored as digests."""
    assert await folder.versions() == ALL
    assert await folder.versions("other") == {"route": {"+4744444444"}}
    _, route = await scene.request("GET", "/documents/acme/route/+4733333333")
    assert route["account"] == "acme"
    _, shown = await scene.request("GET", "/callbacks/acme")
    assert shown["target"] == "https://x.example/"
    (phone,) = (await scene.store.phones.all()).values()
    assert b"correct-horse" not in phone
    with capture_logs() as logs:
        await folder.documents.poll()
    assert logs == []


async def test_a_changed_file_is_read_again(folder: Folder, scene: RpcScene) -> None:
    """Only what differs is stored; a flow gets its next version."""
    before = await scene.store.flow("acme", "menu")
    folder.write("acme/flow/menu.json", SAY)
    with capture_logs() as logs:
        await folder.documents.poll()
    assert [(each["kind"], each["id"]) for each in logs] == [("flow", "menu")]
    after = await scene.store.flow("acme", "menu")
    assert before is not None
    assert after is not None
    assert after[0] == before[0] + 1
    assert json.loads(after[1]) == SAY


async def test_a_removed_file_is_a_deleted_document(folder: Folder, scene: RpcScene) -> None:
    """Of the agent also the password of the phone; and so with a whole account."""
    (folder.path / "acme/agent/ann.json").unlink()
    (folder.path / "other/route/+4744444444.json").unlink()
    await folder.documents.poll()
    assert await folder.versions() == {
        kind: ids for kind, ids in ALL.items() if kind not in {"agent", "phone"}
    }
    assert await folder.versions("other") == {}
    assert await scene.store.phones.owner("PJSIP/ann") is None


@pytest.mark.parametrize(
    ("name", "body", "field"),
    [
        ("acme/route/default.json", {"action": "http://x.example/"}, "action"),
        ("acme/route/default.json", {"account": "other", "action": 7}, "action"),
        ("acme/route/default.json", "{", ""),
        ("acme/flow/menu.json", {"start": "a", "nodes": {}}, "nodes"),
        (f"acme/request/{API}.json", {"url": "https://{{x}}/"}, "url"),
        ("acme/agent/ann.json", {"endpoint": "PJSIP/ann", "password": "short"}, "password"),
        ("acme/callback/default.json", {"target": "https://x.example/"}, "secret"),
    ],
)
async def test_an_invalid_file_changes_nothing(
    folder: Folder, name: str, body: object, field: str
) -> None:
    """The log has file and field; what was stored stays, and other files are read."""
    folder.write(name, body)
    folder.write("acme/agent/bob.json", {"endpoint": "PJSIP/bob"})
    with capture_logs() as logs:
        await folder.documents.poll()
    refused = [each for each in logs if each["event"] == "document file refused"]
    assert {each["file"] for each in refused} == {str(folder.path / name)}
    assert refused[0]["field"].startswith(field)
    assert refused[0]["log_level"] == "error"
    assert await folder.versions() == {**ALL, "agent": {"ann", "bob"}}


async def test_a_phone_of_another_account(folder: Folder) -> None:
    """It is not stored, which is logged; other documents are."""
    folder.write("other/agent/eve.json", FILES["acme/agent/ann.json"])
    folder.write("other/agent/bob.json", {"endpoint": "PJSIP/bob"})
    with capture_logs() as logs:
        await folder.documents.poll()
    refused = [each["id"] for each in logs if each["event"] == "document not stored"]
    assert refused == ["eve"]
    assert (await folder.versions("other"))["agent"] == {"bob"}


async def test_a_store_that_lost_everything(folder: Folder, scene: RpcScene) -> None:
    """It is filled again, although no file has changed."""
    scene.store.documents.clear()
    await folder.documents.poll()
    assert await folder.versions() == ALL
