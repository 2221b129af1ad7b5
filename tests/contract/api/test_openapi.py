"""The OpenAPI document: complete, with examples, and valid for thousands of random requests."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from dev.servers.process import Process
from tests.harness.api.databases import sqlite_url
from tests.harness.api.rest import Rest
from tests.harness.api.serving import serve_rest
from tests.harness.rpc.scene import RpcScene
from tests.harness.until import until
from wire.decoding.patterns import PATTERNS
from wire.openapi.document import portable

WITHOUT_BODY = {"get", "delete"}
# Operations document their 503s; no operation documents a 500.
CHECKS = "status_code_conformance,content_type_conformance,response_schema_conformance"
EXAMPLES = 2  # of each operation
READS = {  # requests about a call that change nothing
    "active-call-details",
    "call-details/{callId}",
    "call/{callId}/timeline",
    "conference/members",
    "conference/my",
    "streams/{callId}",
    "transfer/status",
}
DOCUMENTS = ("numbers", "flows", "requests", "agents", "callbacks")  # not about a call
# Of the operations, by path: each takes half a minute on an idle machine. Invalid trees of actions
# take the generator ten minutes; `voice/test_voice.py` and the shapes' unit tests have them.
PARTS = {
    "call": ("--include-path-regex", "voice/call$", "--mode", "positive"),
    "sessions": ("--include-path-regex", "voice/(transfer|conference)"),
    "legs": (
        *("--include-path-regex", "voice/"),
        *("--exclude-path-regex", f"voice/(call$|tran|conf|{'|'.join(DOCUMENTS)})"),
    ),
    "documents": (
        *("--include-path-regex", f"voice/({'|'.join(DOCUMENTS)})", "--mode", "positive"),
    ),
    "other": ("--exclude-path-regex", "voice/"),
}
PATIENCE_S = 300


async def document_of(rest: Rest) -> dict[str, Any]:
    """Get the OpenAPI document, without a token."""
    answer = await rest.client.get("/openapi.json")
    assert answer.status_code == 200
    return dict(answer.json())


def refs(value: Any) -> set[str]:
    """Return all references in a document."""
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*map(refs, value.values()))
    return set().union(*map(refs, value)) if isinstance(value, list) else set()


async def test_the_document_is_complete(rest: Rest) -> None:
    """Every reference resolves; every operation has a summary, its errors, and an example."""
    document = await document_of(rest)
    known = document["components"]["schemas"]
    assert {each.rpartition("/")[2] for each in refs(document)} <= known.keys()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            what = f"{method} {path}"
            assert operation["summary"], what
            assert {"400"} <= operation["responses"].keys(), what
            assert not {"422", "default"} & operation["responses"].keys(), what
            if method not in WITHOUT_BODY and "requestBody" in operation:
                content = operation["requestBody"]["content"].values()
                assert all("example" in each or "examples" in each for each in content), what


def patterns_of(value: Any, known: dict[str, Any], seen: set[str]) -> set[str]:
    """Return all patterns of a schema, and of those that it refers to."""
    if isinstance(value, list):
        return set().union(*(patterns_of(each, known, seen) for each in value))
    if not isinstance(value, dict):
        return set()
    name = str(value.get("$ref", "")).rpartition("/")[2]
    below = [known[name]] if name and name not in seen else []
    seen.add(name)
    own = {value["pattern"]} if isinstance(value.get("pattern"), str) else set()
    return own.union(*(patterns_of(each, known, seen) for each in (*value.values(), *below)))


async def test_each_pattern_of_a_body_has_a_description(rest: Rest) -> None:
    """Errors say what is allowed in words: no reader is shown a regular expression."""
    document = await document_of(rest)
    known, seen = document["components"]["schemas"], set[str]()
    bodies = [
        operation["requestBody"]
        for operations in document["paths"].values()
        for operation in operations.values()
        if "requestBody" in operation
    ]
    described = {portable({"pattern": each})["pattern"] for each in PATTERNS}
    assert patterns_of(bodies, known, seen) <= described


async def test_all_voice_endpoints_exist(rest: Rest) -> None:
    """The document has all endpoints of the table below."""
    paths = (await document_of(rest))["paths"]
    base = "/srmain/voice/"
    posts = (
        "call mute unmute hold unhold dial hangup transfer/init transfer/complete transfer/cancel"
        " transfer/status conference/add-members conference/kick conference/leave"
        " conference/members call/{callId}/mute call/{callId}/unmute call/{callId}/hold"
        " call/{callId}/unhold call/{callId}/hangup call/{callId}/transfer/init conference/coach"
        " call/{callId}/recording/start call/{callId}/recording/pause"
        " call/{callId}/recording/resume call/{callId}/recording/stop"
    )
    gets = (
        "active-call-details call-details/{callId} call/{callId}/timeline call/{callId}/replay"
        " conference/my"
    )
    for method, names in (("post", posts), ("get", gets)):
        for name in names.split():
            assert method in paths[base + name], name


async def test_errors_of_requests_about_a_call(rest: Rest) -> None:
    """Each may name an unknown call, or find no engine; a change may conflict with its state."""
    paths = (await document_of(rest))["paths"]
    for path, operations in paths.items():
        name = path.removeprefix("/srmain").removeprefix("/voice/")
        is_other = name.startswith((*DOCUMENTS, "webhooks", "listeners"))
        is_about_call = name not in {"call", "calls", "calls/ended", "events"} and not is_other
        if "/voice/" in path and is_about_call:
            for operation in operations.values():
                expected = {"404", "503"} if name in READS else {"404", "409", "503"}
                assert expected == {"404", "409", "503"} & operation["responses"].keys(), path


async def test_the_docs_page_needs_no_other_host(rest: Rest) -> None:
    """/docs loads nothing from another host."""
    page = (await rest.client.get("/docs")).text
    assert "://" not in page.replace("http://www.w3.org", "")
    for path in set(re.findall(r'(?:src|href)="([^"]+)"', page)):
        assert (await rest.client.get(path)).status_code == 200, path


async def test_cors_is_off(rest: Rest) -> None:
    """No other origin may send requests."""
    headers = {"Origin": "https://example.com", "Access-Control-Request-Method": "POST"}
    answer = await rest.client.options("/srmain/voice/call", headers=headers)
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.timeout(PATIENCE_S + 60)
@pytest.mark.parametrize("part", PARTS)
async def test_odd_requests_find_no_fault(part: str, scene: RpcScene, tmp_path: Path) -> None:
    """Schemathesis finds no 5xx but a documented 503, and no undocumented response."""
    async with serve_rest(sqlite_url(tmp_path), scene.url) as rest:
        asking = Process.start(
            (
                str(Path(sys.executable).with_name("schemathesis")),
                *("run", f"{rest.url}/openapi.json"),
                *("--header", f"Authorization: {rest.keys['acme']}"),
                *("--phases", "examples,fuzzing", "--max-examples", str(EXAMPLES)),
                *("--checks", CHECKS, "--seed", "1", "--generation-deterministic"),
                *PARTS[part],
                *("--exclude-path", "/srmain/voice/events", "--request-timeout", "10"),
                *("--exclude-path", "/srmain/voice/webhooks/events"),
                *("--warnings", "off", "--suppress-health-check", "all", "--no-color"),
            ),
            log=tmp_path / "found",
            env={"COLUMNS": "200"},
            cwd=tmp_path,
        )
        try:
            await until(lambda: not asking.alive(), timeout_s=PATIENCE_S, what="its end")
        finally:
            await asking.kill()
    found = (tmp_path / "found").read_text()
    assert "No issues found" in found, found[-12_000:]
